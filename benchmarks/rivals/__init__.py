"""Other ways to do what robscore does, one small file each, all behind the signature of ``base.Rival``."""

from benchmarks.rivals.base import Rival, Task
from benchmarks.rivals.genscore import Genscore
from benchmarks.rivals.geom_median import GeomMedian
from benchmarks.rivals.gglasso import GGLasso
from benchmarks.rivals.ours import Ours
from benchmarks.rivals.plain import Plain
from benchmarks.rivals.scikit_learn import ScikitLearn
from benchmarks.rivals.skglm import Skglm

RIVALS: tuple[Rival, ...] = (Plain(), Genscore(), ScikitLearn(), GGLasso(), Skglm(), GeomMedian())

__all__ = ["RIVALS", "Ours", "Rival", "Task"]
