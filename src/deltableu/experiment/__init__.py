"""A configuration in, stages from logs to report out; what is done is kept."""

from deltableu.experiment.design import Design, read_design
from deltableu.experiment.gather import gather_study
from deltableu.experiment.results import Progression, StageState, experiment_state, unused_results
from deltableu.experiment.run import Ran, StageEvent, run_stages
from deltableu.experiment.stage import (
    Given,
    Made,
    Named,
    Part,
    Result,
    Stage,
    Words,
    Work,
    downstream,
    in_order,
)
from deltableu.experiment.store import Record

__all__ = [
    "Design",
    "Given",
    "Made",
    "Named",
    "Part",
    "Progression",
    "Ran",
    "Record",
    "Result",
    "Stage",
    "StageEvent",
    "StageState",
    "Words",
    "Work",
    "downstream",
    "experiment_state",
    "gather_study",
    "in_order",
    "read_design",
    "run_stages",
    "unused_results",
]
