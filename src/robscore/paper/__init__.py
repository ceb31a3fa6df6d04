"""The paper's figures, tables and theorems, each one experiment, run by ``robscore reproduce NAME``."""

from robscore.paper.alps import Alps
from robscore.paper.experiment import Experiment, InterruptedRunError, Report, reproduce
from robscore.paper.roc_curves import RocContamination, RocGaussian, RocSqrt
from robscore.paper.squared_errors import BlocksGaussian, BlocksSqrt, Consistency
from robscore.paper.theory_check import Theory, WhyGeometric

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
