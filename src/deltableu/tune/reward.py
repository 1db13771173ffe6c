"""A metric as the reward of reinforcement learning: batches of texts in, numbers out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deltableu._types import Array
from deltableu.corpus import ReferenceSet, Study, read_study, reference_set
from deltableu.errors import InputError, Problem, check_kind, hint_at
from deltableu.io import PathLike, shown
from deltableu.score import DeltaBLEU, Encoded, NgramMetric

#: Ids among which a hint is looked for.
_HINTED = 1000


class DeltaBLEUReward:
    """delta-BLEU of single texts against the references of a study, which are encoded once.

    Called as reward functions of TRL's trainers are, `reward(prompts=..., completions=...,
    id=...)`; `compute_score` and `compute_scores` are called as verl calls its own. It holds no
    state: threads may share it, and processes may inherit or unpickle it.

    Parameters
    ----------
    study : path, Study or ReferenceSet
        Items with weighted references, each with at least one that can be compared with.
    metric : optional
        A metric of the BLEU family. By default delta-BLEU with a signed mean of its precisions,
        from -1 to 1: as the paper's geometric mean is 0 wherever no bigram matches, most of what an
        untrained policy says would earn the same.
    item_column : str
        The column of the training data that holds items' ids.

    References
    ----------
    Galley et al. 2015, "deltaBLEU: A Discriminative Metric for Generation Tasks with Intrinsically
    Diverse Targets".

    Examples
    --------
    >>> references = ReferenceSet([["yes I do", "no way"]], [[1.0, -0.5]], item_ids=["q"])
    >>> reward = DeltaBLEUReward(references)
    >>> reward(completions=["yes I do", "no way", "purple"], id=["q", "q", "q"])
    [1.0, -0.5, 0.0]
    """

    def __init__(
        self,
        study: PathLike | Study | ReferenceSet,
        metric: NgramMetric | None = None,
        *,
        item_column: str = "id",
    ) -> None:
        self.metric = DeltaBLEU().signed() if metric is None else metric
        check_kind("the metric", self.metric, NgramMetric)
        if "messages" in self.metric.needs:
            raise InputError(f"{self.metric.name} needs messages too, and cannot be a reward")
        self.item_column = item_column
        #: What trainers call it in their logs.
        self.__name__ = self.metric.name
        references = _references(study)
        if references.item_ids is None:
            raise InputError("the references have no item_ids, by which texts could name them")
        self.encoded: Encoded = self.metric.encode(references).joined()
        self._places = {id: place for place, id in enumerate(references.item_ids)}

    def score(self, item_ids: Sequence[str], texts: Sequence[str]) -> Array:
        """The reward of each text as an answer to the item beside it; an item may come often."""
        if len(item_ids) != len(texts):
            raise InputError(f"{len(texts)} texts for {len(item_ids)} item ids: give one for each")
        if not len(texts):
            return np.zeros(0)
        if len(texts) == 1:
            return np.array([self._score_one(*item_ids, *texts)])
        try:
            places = np.array([self._places[id] for id in item_ids])
            rows = self.metric.statistics(list(texts), self.encoded.take(places), threads=1)
        except (KeyError, TypeError, InputError):
            self._complain(item_ids, texts)
            raise
        return rows.segment_scores() / 100.0

    def __call__(
        self, prompts: object = None, completions: Sequence[Any] | None = None, **columns: Any
    ) -> list[float]:
        """Rewards as TRL's trainers ask for them.

        Parameters
        ----------
        prompts
            Not looked at: an item has its id.
        completions : list of str, or of lists of messages
            Texts; or conversations, of which the last message counts.
        columns
            The other columns of the training data, of which `item_column` names the items.
        """
        if completions is None:
            raise InputError("there are no completions to reward")
        if self.item_column not in columns:
            there = ", ".join(columns) or "none"
            raise InputError(
                f"the reward needs the column {self.item_column!r} with items' ids, and is given "
                f"the columns {there}: add it to the training data, or name it with item_column"
            )
        return _listed(self.score(columns[self.item_column], _texts(completions)))

    def compute_score(
        self,
        data_source: object = None,
        solution_str: str | None = None,
        ground_truth: object = None,
        extra_info: Mapping[str, Any] | None = None,
        **_: object,
    ) -> float:
        """One reward as verl asks for it.

        The item's id is in `extra_info`, under the name of `item_column`; where it has none, it is
        the `ground_truth`.
        """
        return self._score_one(self._item(ground_truth, extra_info), solution_str)  # type: ignore[arg-type]

    def compute_scores(
        self,
        data_sources: object = None,
        solution_strs: Sequence[str] = (),
        ground_truths: Sequence[object] = (),
        extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
        **_: object,
    ) -> list[float]:
        """Rewards of a batch as verl's batch reward manager asks for them."""
        infos = [None] * len(ground_truths) if extra_infos is None else extra_infos
        if not len(ground_truths) == len(infos) == len(solution_strs):
            raise InputError(
                f"{len(solution_strs)} solutions, {len(ground_truths)} ground truths and "
                f"{len(infos)} extra infos: give one of each"
            )
        ids = [self._item(*pair) for pair in zip(ground_truths, infos, strict=True)]
        return _listed(self.score(ids, solution_strs))

    def _item(self, ground_truth: object, extra_info: Mapping[str, Any] | None) -> str:
        if isinstance(extra_info, Mapping) and self.item_column in extra_info:
            return extra_info[self.item_column]  # type: ignore[no-any-return]
        if not isinstance(ground_truth, str):
            raise InputError(
                f"extra_info has no {self.item_column!r}, and the ground truth is "
                f"{shown(ground_truth)}: one of them must be an item's id"
            )
        return ground_truth

    def _score_one(self, item_id: str, text: str) -> float:
        try:
            return self.metric.segment_score(text, self.encoded, self._places[item_id]) / 100.0
        except (KeyError, TypeError, InputError):
            self._complain([item_id], [text])
            raise

    def _complain(self, item_ids: Sequence[Any], texts: Sequence[Any]) -> None:
        """Say which text or id is wrong, if one is."""
        for number, (id, text) in enumerate(zip(item_ids, texts, strict=True)):
            if not isinstance(id, str):
                message = f"must be an item's id, a string, got {shown(id)}"
                raise InputError(Problem(message, field=f"item_ids[{number}]"))
            if id not in self._places:
                meant = hint_at(id, list(self._places)[:_HINTED])
                message = f"there is no item {shown(id)} among {len(self._places):,}{meant}"
                raise InputError(Problem(message, field=f"item_ids[{number}]"))
            if not isinstance(text, str):
                message = f"must be a text, got {shown(text)}"
                raise InputError(Problem(message, item=id, field=f"texts[{number}]"))


def _listed(rewards: Array) -> list[float]:
    listed: list[float] = rewards.tolist()
    return listed


def _references(study: PathLike | Study | ReferenceSet) -> ReferenceSet:
    if isinstance(study, ReferenceSet):
        return study
    if isinstance(study, Study):
        return reference_set(study)
    return reference_set(read_study(study, ratings=False, systems=()))


def _texts(completions: Sequence[Any]) -> list[Any]:
    """The texts of completions; of conversations, what the last message says."""
    return [
        one if isinstance(one, str) else _last_message(one, number)
        for number, one in enumerate(completions)
    ]


def _last_message(completion: Any, number: int) -> str:
    last = completion[-1] if isinstance(completion, list | tuple) and completion else completion
    content = last.get("content") if isinstance(last, Mapping) else None
    if isinstance(content, list | tuple):
        # Parts: texts, and what is none.
        parts = [one.get("text") for one in content if isinstance(one, Mapping)]
        content = "".join(part for part in parts if isinstance(part, str)) if parts else None
    if not isinstance(content, str):
        message = f"must be a text, or a list of messages with a content, got {shown(completion)}"
        raise InputError(Problem(message, field=f"completions[{number}]"))
    return content
