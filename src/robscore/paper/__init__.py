"""The paper's figures, tables and theorems, one file each, run by ``robscore reproduce NAME``."""

from robscore.paper.alps import Alps
from robscore.paper.blocks_gaussian import BlocksGaussian
from robscore.paper.blocks_sqrt import BlocksSqrt
from robscore.paper.consistency import Consistency
from robscore.paper.experiment import Experiment
from robscore.paper.roc_contamination import RocContamination
from robscore.paper.roc_gaussian import RocGaussian
from robscore.paper.roc_sqrt import RocSqrt
from robscore.paper.runner import InterruptedRunError, Report, reproduce
from robscore.paper.theory_check import Theory
from robscore.paper.why_geometric import WhyGeometric

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        RocSqrt(),
        RocContamination(),
        RocGaussian(),
        BlocksGaussian(),
        BlocksSqrt(),
        Alps(),
        WhyGeometric(),
        Consistency(),
        Theory(),
    )
}

__all__ = ["EXPERIMENTS", "Experiment", "InterruptedRunError", "Report", "reproduce"]
