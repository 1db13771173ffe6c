"""Items and logs in; the items with mined, parroted and random references out."""

from __future__ import annotations

import json
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from zlib import crc32

import numpy as np

from deltableu._types import Ints
from deltableu._version import __version__
from deltableu.corpus import Item, Source, Study, read_study
from deltableu.errors import InputError, Problem, check_kind
from deltableu.io import PathLike
from deltableu.mine.additions import Addition, add_references
from deltableu.mine.admission import OwnPairs, RowFilter, log_ids, log_thread
from deltableu.mine.bm25 import BM25
from deltableu.mine.diversity import maximal_marginal_relevance
from deltableu.mine.engines import Engine
from deltableu.mine.join import Joined, OnError
from deltableu.mine.log_join import JoinedLogs, LogRun, join_logs
from deltableu.mine.results import Mined
from deltableu.mine.rows import LoggedPair, Queries
from deltableu.mine.run import Log, Progress
from deltableu.mine.similarity import PairSimilarity
from deltableu.stats import stream
from deltableu.text import WordRule, text_keys

_RANDOM = 7
#: Nobody rates so many, and all of them are held in memory.
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class MiningPlan:
    """What references are wanted.

    Parameters
    ----------
    similarity : PairSimilarity
        How alike logged pairs and items are; BM25 on both fields by default.
    top : int
        So many mined references per item; 15 as Galley et al. (2015).
    parrot : bool
        Add the message itself as a reference of origin parrot.
    random : int
        Add so many random responses of the logs.
    rows : RowFilter
        Which responses are fit to be references at all.
    diversity : float, optional
        From 0 to 1: how much references should differ (`maximal_marginal_relevance`).
    seed : int
        Seed of the random responses.
    tokenize : str
        What a word is (`deltableu.text.WordRule`): for BM25, for counts of words and for diversity.
        Word vectors must have been trained with the same rule.
    """

    similarity: PairSimilarity = field(default_factory=BM25)
    top: int = 15
    parrot: bool = False
    random: int = 0
    rows: RowFilter = field(default_factory=RowFilter)
    diversity: float | None = None
    seed: int = 0
    tokenize: str = "words"

    def __post_init__(self) -> None:
        WordRule(self.tokenize)
        other = getattr(self.similarity, "tokenize", None)
        if other is not None and other != self.tokenize:
            raise InputError(
                f"the word vectors are of words by the rule {other!r}, but tokenize is "
                f"{self.tokenize!r}: mine with tokenize={other!r}, or train vectors of such words"
            )
        for name in ("top", "random"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} must be 0 or more, got {getattr(self, name)}")
            if getattr(self, name) > _MOST:
                raise InputError(f"{name} must be at most {_MOST:,}, got {getattr(self, name)}")
        if self.seed < 0:
            raise InputError(f"seed must not be negative, got {self.seed}")
        if self.diversity is not None and not 0.0 <= self.diversity <= 1.0:
            raise InputError(f"diversity must lie in [0, 1], got {self.diversity}")

    @property
    def signature(self) -> str:
        """All that references depend on, but items and logs, in one line."""
        parts = [self.similarity.signature, f"top:{self.top}", self.rows.signature]
        if self.diversity is not None:
            parts.append(f"diversity:{self.diversity!r}")
        if self.parrot:
            parts.append("parrot")
        if self.tokenize != "words":
            parts.append(f"tokenize:{self.tokenize}")
        if self.random:
            parts.append(f"random:{self.random}|seed:{self.seed}")
        return "|".join((*parts, f"version:{__version__}"))

    @property
    def places(self) -> int:
        """Candidates that are kept of every item: more where some are passed over."""
        return max(1, self.top if self.diversity is None else 4 * self.top)


def mine_references(
    study: Study | PathLike | Sequence[Item],
    logs: PathLike | Sequence[PathLike] | Sequence[tuple[str, str]],
    *,
    plan: MiningPlan | None = None,
    engine: str | Engine = "threads",
    threads: int | None = None,
    work: PathLike | None = None,
    keep_work: bool = False,
    on_error: OnError = "stop",
    partition_bytes: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    log: Log | None = None,
) -> Mined:
    """Extend the references of each item with responses from dialogue logs.

    Exact: the same as scoring every logged pair against every item. The logs are read twice and
    never kept. Results do not depend on engine, threads or partitions.

    Parameters
    ----------
    study
        A study, its folder, or items.
    logs
        Files, folders, globs or fsspec URLs of JSON Lines, TSV or Parquet with `utterance` and
        `response`; or pairs of these.
    plan : MiningPlan
        What is wanted.
    engine : {"threads", "dask", "dask://HOST:PORT", "tls://HOST:PORT"} or Engine
        Where partitions are worked on.
    threads : int, optional
        How many at once; all cores by default.
    work : path, optional
        A folder for checkpoints: after being killed, the same call goes on where it was. They are
        removed at the end.
    keep_work : bool
        Leave them to the caller, who may want to write the study first.
    on_error : {"stop", "skip"}
        Whether a row or partition that cannot be read ends the run, or is counted and left out.
    partition_bytes : int, optional
        About so much of a file is one partition.
    progress, log : callable, optional
        Called as rows are read, and as partitions are finished.

    Examples
    --------
    >>> from deltableu.corpus.types import Reference
    >>> item = Item("1", (Reference("a", "Fine, thanks."),), message="How are you?")
    >>> pairs = [("how are you today", "fine and you"), ("where is it", "over there")]
    >>> mined = mine_references([item], pairs, plan=MiningPlan(parrot=True))
    >>> [(one.origin, one.text) for one in mined.study.items[0].references]
    [('original', 'Fine, thanks.'), ('mined', 'fine and you'), ('parrot', 'How are you?')]
    """
    plan = plan or MiningPlan()
    check_kind("plan", plan, MiningPlan)
    whole = _as_study(study)
    items = whole.items
    run = LogRun(engine, threads, work, on_error, partition_bytes, progress, log)
    with join_logs(
        logs,
        plan.similarity,
        plan.similarity.counter(_queries(items, plan)),
        OwnPairs.of(items, parrot=plan.parrot),
        plan.rows,
        len(items),
        plan.places,
        WordRule(plan.tokenize),
        (plan.signature, *map(described, items)),
        run,
        lambda rows: _picks(items, plan, rows),
    ) as joined:
        mined = _assemble(whole, plan, joined)
    if not keep_work:
        mined.work.end()
    return mined


def _as_study(study: Study | PathLike | Sequence[Item]) -> Study:
    if isinstance(study, Study):
        whole = study
    elif isinstance(study, str | Path) or hasattr(study, "__fspath__"):
        whole = read_study(study)
    else:
        whole = Study(tuple(study))
        for number, item in enumerate(whole.items):
            check_kind(f"item {number}", item, Item)
    if not whole.items:
        raise InputError("there are no items to mine references for")
    return whole


def _queries(items: Sequence[Item], plan: MiningPlan) -> Queries:
    on = getattr(plan.similarity, "on", "both")
    utterances, responses = [], []
    for item in items:
        if item.message is None and on in ("utterance", "both"):
            message = "the item has no message to look for: mine on the response, or add it"
            raise InputError(Problem(message, item=item.id, field="message"))
        original = next((one for one in item.references if one.origin == "original"), None)
        if original is None and on in ("response", "both"):
            message = "the item has no original reference to look for: mine on the utterance"
            raise InputError(Problem(message, item=item.id, field="references"))
        utterances.append(item.message or "")
        responses.append(original.text if original is not None else "")
    return Queries.of(utterances, responses, WordRule(plan.tokenize))


def described(item: Item) -> str:
    """All of an item that the join depends on."""
    references = [
        [one.id, one.text, one.origin, one.source and one.source.id] for one in item.references
    ]
    return json.dumps([item.id, item.message, references, log_thread(item)])


def _drawn(item: Item, plan: MiningPlan, rows: int) -> list[int]:
    """Positions of random rows, more than needed: some will not be fit."""
    rng = stream(plan.seed, _RANDOM, crc32(item.id.encode("utf-8", "surrogatepass")))
    drawn = rng.integers(rows, size=4 * plan.random + 16)
    return list(dict.fromkeys(drawn.tolist()))


def _picks(items: Sequence[Item], plan: MiningPlan, rows: int) -> Ints:
    if not plan.random:
        return np.empty(0, np.int64)
    return np.unique([at for item in items for at in _drawn(item, plan, rows)])


def _assemble(study: Study, plan: MiningPlan, joined: JoinedLogs) -> Mined:
    found = joined.found
    items: list[Item] = []
    added: Tally[str] = Tally()
    short = 0
    for number, item in enumerate(study.items):
        mined = list(_mined(plan, found, number))
        short += len(mined) < plan.top
        additions = [*mined]
        if plan.random:
            additions += _random(item, plan, found, mined)
        if plan.parrot and item.message is not None:
            additions.append(Addition(item.message, "parrot"))
        references = add_references(item.references, additions)
        added.update(one.origin for one in references[len(item.references) :])
        items.append(replace(item, references=references))
    leaks = {
        item.id: int(count) for item, count in zip(study.items, found.leaks, strict=True) if count
    }
    return Mined(
        replace(study, items=tuple(items), path=None),
        found.rows,
        joined.skipped,
        joined.unreadable,
        dict(found.dropped),
        leaks,
        dict(added),
        short,
        plan.signature,
        joined.work,
    )


def _mined(plan: MiningPlan, found: Joined, number: int) -> Iterable[Addition]:
    size = int(found.heaps.sizes[number]) if plan.top else 0
    scores = found.heaps.scores[number, :size].tolist()
    pairs = [found.pairs[at] for at in found.heaps.positions[number, :size].tolist()]
    chosen = list(range(size))
    if plan.diversity is not None:
        texts = [pair.response for pair in pairs]
        chosen = maximal_marginal_relevance(
            texts, scores, plan.top, plan.diversity, WordRule(plan.tokenize)
        )
    for rank, place in enumerate(chosen, start=1):
        pair = pairs[place]
        source = Source(pair.utterance, pair.id, scores[place], rank)
        yield Addition(pair.response, "mined", source)


def _random(
    item: Item, plan: MiningPlan, found: Joined, mined: Sequence[Addition]
) -> Iterable[Addition]:
    texts = [*(one.text for one in item.references), *(one.text for one in mined)]
    if plan.parrot and item.message is not None:
        texts.append(item.message)
    taken = set(text_keys(texts).keys.tolist())
    left, ids, thread = plan.random, set(log_ids(item)), log_thread(item)
    for position in _drawn(item, plan, found.rows):
        pair: LoggedPair | None = found.picked.get(position)
        if pair is None or left == 0:
            continue
        (key,) = text_keys([pair.response]).keys.tolist()
        if key not in taken and pair.id not in ids and (thread is None or pair.thread != thread):
            taken.add(key)
            left -= 1
            yield Addition(pair.response, "random", Source(pair.utterance, pair.id))
