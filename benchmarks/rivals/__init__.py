"""Other ways to do what robscore does, one small file each, all behind the signature of ``base.Rival``."""

from benchmarks.rivals.base import Rival, Task
from benchmarks.rivals.bdgraph import BDgraph
from benchmarks.rivals.genscore import Genscore
from benchmarks.rivals.geom_median import GeomMedian
from benchmarks.rivals.gglasso import GGLasso
from benchmarks.rivals.latentcor import Latentcor
from benchmarks.rivals.mgm import Mgm
from benchmarks.rivals.normal_scores import NormalScores
from benchmarks.rivals.ours import Ours
from benchmarks.rivals.plain import Plain
from benchmarks.rivals.scikit_learn import ScikitLearn
from benchmarks.rivals.skeptic import Skeptic
from benchmarks.rivals.skglm import Skglm

MIXED: tuple[Rival, ...] = (NormalScores(), Skeptic(), Latentcor(), Mgm(), BDgraph())
RIVALS: tuple[Rival, ...] = (Plain(), Genscore(), ScikitLearn(), GGLasso(), Skglm(), GeomMedian(), *MIXED)

__all__ = ["MIXED", "RIVALS", "Ours", "Rival", "Task"]
