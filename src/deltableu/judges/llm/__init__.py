"""An LLM as judge: a study and an endpoint in; ratings, weights and what they cost, out."""

from deltableu.judges.llm.answers import AnswerError, AnswerForm
from deltableu.judges.llm.asking_run import AskEvent
from deltableu.judges.llm.costs import CostEstimate, Prices, Spending
from deltableu.judges.llm.endpoint import KEY_VARIABLE, Endpoint, Sampling, Sending
from deltableu.judges.llm.judging import (
    JudgedStudy,
    judge_outputs,
    judge_pairs,
    judge_references,
    reference_tasks,
)
from deltableu.judges.llm.rater import LLMRater
from deltableu.judges.llm.rubric import Rubric, What, default_rubric, read_rubric
from deltableu.judges.llm.tasks import JudgeTask, output_tasks, pair_tasks

__all__ = [
    "KEY_VARIABLE",
    "AnswerError",
    "AnswerForm",
    "AskEvent",
    "CostEstimate",
    "Endpoint",
    "JudgeTask",
    "JudgedStudy",
    "LLMRater",
    "Prices",
    "Rubric",
    "Sampling",
    "Sending",
    "Spending",
    "What",
    "default_rubric",
    "judge_outputs",
    "judge_pairs",
    "judge_references",
    "output_tasks",
    "pair_tasks",
    "read_rubric",
    "reference_tasks",
]
