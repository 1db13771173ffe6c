"""A configuration in, the stages of its experiment out."""

from __future__ import annotations

import os.path
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deltableu.errors import InputError, Problem, hint_at
from deltableu.experiment.changes import change_setting
from deltableu.experiment.program import program_command
from deltableu.experiment.section import Section
from deltableu.experiment.stage import Given, Made, Named, Part, Result, Stage, Work, in_order
from deltableu.io import PathLike, read_toml

_SECTIONS = (
    *("logs", "items", "vectors", "models", "systems", "mine", "judge"),
    *("weights", "ratings", "score", "compare", "validate", "report"),
)
_TEXTS = ("title", "note", "seed")
#: How raw logs are read: for pairs and for items alike.
_READING = (
    *("columns", "min_posts", "users", "own_replies", "clock_skew", "roles", "responder"),
    *("name_by_file", "on_error"),
)
#: The metric's logs, those of the systems, and what the items are of.
PERIODS = ("evaluator", "system", "test")
_SPLIT = "evaluator:0.6,system:0.3,test:0.1"
#: Kinds of responders, the logs they look into, and what type of system they are by default.
_KINDS = {
    "random": ("system", "random"),
    "c-tfidf": ("system", "retrieval"),
    "c-bm25": ("system", "retrieval"),
    "human": ("test", "human"),
    "model": ("", "neural"),
    "rerank": ("", "neural"),
    "program": ("", ""),
    "file": ("", ""),
}
_RETRIEVAL = ("c-tfidf", "c-bm25")
_WITHOUT_CANDIDATES = ("random", "human", "file")
#: What a kind cannot do without.
_NEEDED = {"model": "model", "program": "command"}
#: Kinds that draw something.
_DRAWING = ("random", "human", "model")
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")
_BY = ("judge", "simulated", "none")


@dataclass(frozen=True, slots=True)
class Design:
    """What an experiment consists of.

    Attributes
    ----------
    title : str
    stages : tuple of Stage
        In order.
    study : Made or Given
        The study that is scored in the end.
    printed : tuple of Made
        What people read first.
    """

    title: str
    stages: tuple[Stage, ...]
    study: Made | Given
    printed: tuple[Made, ...]


def read_design(
    path: PathLike,
    *,
    changes: Sequence[str] = (),
    engine: str | None = None,
    threads: int | None = None,
) -> Design:
    """Read a configuration.

    Parameters
    ----------
    path
        A TOML file; files that it names are found from its folder.
    changes
        Settings in place of the file's, as lines of TOML: `mine.top = 5`. A table takes the place
        of a whole section.
    engine : str, optional
        Where the stages that scale are worked on, such as `dask`; no result depends on it.
    threads : int, optional
        Threads of each stage that takes a number of them.
    """
    values, known = read_toml(path), (*_TEXTS, *_SECTIONS)
    for change in changes:
        change_setting(values, change)
    for key in values:
        if key not in known:
            message = f"is not part of an experiment; there are {', '.join(known)}"
            raise InputError(Problem(f"{message}{hint_at(key, known)}", file=str(path), field=key))
    return _Designer(Section(str(path), "", values), engine, threads).design()


@dataclass(frozen=True, slots=True)
class _RawLogs:
    """Posts, turns or conversations, and how they are split into periods."""

    files: tuple[Given, ...]
    split: tuple[str, ...]
    seed: str
    by_shares: bool
    reading: tuple[Part, ...]


def _with_candidates(systems: Mapping[str, Section], name: str) -> tuple[str, ...]:
    """The other systems that say what else they considered."""
    others = ((other, one.peek("kind")) for other, one in systems.items() if other != name)
    return tuple(other for other, kind in others if kind not in _WITHOUT_CANDIDATES)


class _Designer:
    """Goes through the sections, and adds a stage for each."""

    def __init__(self, whole: Section, engine: str | None, threads: int | None) -> None:
        self._whole, self._engine, self._threads = whole, engine, threads
        self._title = whole.take("title", str) or Path(whole.file).stem
        self._note = whole.take("note", str)
        self._seed = whole.seed(0)
        self._sections = dict(whole.tables())
        self._stages: list[Stage] = []
        self._logs: dict[str, tuple[Given | Made, ...]] = {}
        self._model_names: tuple[str, ...] = ()
        self._qualities: dict[str, float] = {}
        self._missing = self._section("items").take("missing", str)
        self._metrics_judge: Given | Made | None = None
        self._is_judge_used = False

    def design(self) -> Design:
        models = self._section("models").tables()
        raw = self._periods()
        items = self._items(raw)
        self._models(models)
        answers = self._answers(items)
        study = self._weighted(self._mined(items))
        study, has_ratings = self._gathered(study, answers, items)
        printed = []
        for name in ("score", "compare", "validate"):
            section = self._section(name)
            if name == "validate" and not has_ratings:
                continue
            judge = self._judge_of(section)
            options = section.options() if name == "score" else self._seeded(section)
            options += judge
            self._add(name, section, (name, study, *options), printed=f"{name}.txt")
            printed.append(Made(name, f"{name}.txt"))
        self._report(study)
        return Design(self._title, in_order(self._stages), study, tuple(printed))

    def _section(self, name: str) -> Section:
        """A section; an empty one where there is none."""
        return self._sections.get(name) or Section(self._whole.file, name, {})

    def _refuse(self, name: str, message: str) -> None:
        if name in self._sections:
            raise InputError(Problem(message, file=self._whole.file, field=name))

    def _seeded(self, section: Section) -> list[Part]:
        """The options of a command that takes a seed: its own one, or that of the experiment."""
        seed = section.seed(self._seed)
        return [*section.options(), "--seed", str(seed)]

    def _add(
        self,
        name: str,
        section: Section,
        command: Sequence[Part],
        *,
        running: Sequence[str] = (),
        printed: str = "",
    ) -> None:
        stage = Stage(name, section.name, tuple(command), tuple(running), printed)
        self._stages.append(stage)

    def _running(self, *, scales: bool = False) -> list[str]:
        """What changes how a stage runs, but not its result."""
        found = [] if self._threads is None else ["--threads", str(self._threads)]
        return [*found, "--engine", self._engine] if scales and self._engine else found

    def _logs_of(self, period: str, section: Section) -> tuple[Given | Made, ...]:
        if period not in self._logs:
            message = (
                f"needs logs: [logs] names raw ones as files, or pairs as {', '.join(PERIODS)}"
            )
            raise InputError(Problem(message, file=section.file, field=section.name))
        return self._logs[period]

    def _periods(self) -> _RawLogs | None:
        """Pairs of three periods that have no thread in common."""
        section = self._section("logs")
        reading = section.only(_READING).options()
        for period in PERIODS:
            if given := section.files(period):
                self._logs[period] = given
        files = section.files("files")
        if files and self._logs:
            message = f"are raw logs, but pairs of {next(iter(self._logs))} are given already"
            raise section.wrong("files", message)
        if not files:
            section.check_empty()
            return None
        split = section.take("split", str) or _SPLIT
        periods = tuple(re.findall(r"([\w.-]+)\s*[:=]", split))
        needed = PERIODS[:2] if self._section("items").peek("study") else PERIODS
        if not set(needed) <= set(periods) <= set(PERIODS):
            raise section.wrong("split", f"must name {', '.join(needed)}, such as {_SPLIT}")
        crossing, seed = section.take("crossing", str), section.seed(self._seed)
        by_shares = "=" not in split
        raw = _RawLogs(
            files,
            ("--split", split, *([] if crossing is None else ["--crossing", crossing])),
            str(seed),
            by_shares,
            tuple(reading),
        )
        overlap = section.take("drop_overlap", bool)
        command: list[Part] = ["logs", "pairs", *files, *raw.split, *reading]
        command += ["--seed", raw.seed] if by_shares else []
        command += [] if overlap is False else ["--drop-overlap"]
        self._add("pairs", section, (*command, "--output", Result("pairs"), *section.options()))
        self._logs = {period: (Made("pairs", f"pairs/{period}.tsv"),) for period in periods}
        return raw

    def _items(self, raw: _RawLogs | None) -> Given | Made:
        section = self._section("items")
        if given := section.one_file("study"):
            section.check_empty()
            return given
        if raw is None:
            raise section.wrong("study", "is missing: name a study, or raw logs to sample from")
        kind = section.choice("as", ("answers", "upsilon", "triples"))
        seeds = ["--split-seed", raw.seed] if raw.by_shares else []
        self._add(
            "items",
            section,
            (
                *("logs", "sample", *raw.files, "--as", kind, *raw.split, *seeds, *raw.reading),
                *("--period", "test", "--output", Result("study"), *self._seeded(section)),
            ),
        )
        return Made("items", "study")

    def _models(self, models: Mapping[str, Section]) -> None:
        """Responders that learn, from the logs of the systems."""
        self._model_names = tuple(models)
        for name, section in models.items():
            self._check_name(name, section)
            logs = self._logs_of("system", section)
            command = ("respond", "train", *logs, "--output", Result("model.safetensors"))
            self._add(
                f"model-{name}", section, (*command, *self._seeded(section)),
                running=self._running(),
            )  # fmt: skip

    def _answers(self, items: Given | Made) -> dict[str, tuple[Given | Made, str]]:
        """What each system says, and of what type it is."""
        systems = self._section("systems").tables()
        wanted = {one.peek("of") for one in systems.values()}
        found: dict[str, tuple[Given | Made, str]] = {}
        for name, section in systems.items():
            self._check_name(name, section)
            kind = section.choice("kind", tuple(_KINDS))
            period, type_ = _KINDS[kind]
            type_ = section.take("type", str) or type_
            if (quality := section.take("quality", float)) is not None:
                self._qualities[name] = quality
            if kind == "file":
                given = section.one_file("file")
                if given is None:
                    raise section.wrong("file", "is missing: which file has the outputs?")
                section.check_empty()
                found[name] = given, type_
                continue
            if kind in _NEEDED and _NEEDED[kind] not in section:
                raise section.wrong(_NEEDED[kind], f"is missing, which a {kind} needs")
            command: list[Part] = ["respond", "run", items, "--kind", kind]
            if period:
                period = section.choice("logs", PERIODS, period)
                command += ["--logs", *self._logs_of(period, section)]
            if kind in _RETRIEVAL:
                command += ["--work", Work()]
            command += self._model_of(section, kind)
            if kind == "program" and (program := program_command(section)):
                command += ["--command", program]
            if kind == "rerank":
                of = section.choice("of", _with_candidates(systems, name))
                command += ["--nbest", Made(f"answer-{of}", "nbest.jsonl")]
            if name in wanted:
                command += ["--nbest-output", Result("nbest.jsonl")]
            options = self._seeded(section) if kind in _DRAWING else section.options()
            command += ["--output", Result(f"{name}.jsonl"), *options]
            self._add(
                f"answer-{name}", section, command,
                running=self._running(scales=kind in _RETRIEVAL),
            )  # fmt: skip
            found[name] = Made(f"answer-{name}", f"{name}.jsonl"), type_
        return found

    def _model_of(self, section: Section, kind: str) -> list[Part]:
        """The model of a system: one that is trained here, or a file."""
        name = section.peek("model")
        if kind != "model" or name not in self._model_names:
            named = kind == "model" and isinstance(name, str)
            if named and not os.path.exists(section.folder / str(name)):
                hint = hint_at(name, self._model_names)
                message = f"there is no section [models.{name}], and no file of this name{hint}"
                raise section.wrong("model", message)
            return []
        section.take("model", str)
        return ["--model", Made(f"model-{name}", "model.safetensors")]

    def _check_name(self, name: str, section: Section) -> None:
        if not _NAME.fullmatch(name):
            message = "a name begins with a letter or digit, and holds letters, digits, . _ + -"
            raise InputError(Problem(message, file=section.file, field=section.name))

    def _mined(self, items: Given | Made) -> Given | Made:
        if "mine" not in self._sections:
            self._refuse("vectors", "has no use without [mine]")
            return items
        section = self._section("mine")
        logs = self._logs_of("evaluator", section)
        if "vectors" in self._sections:
            trained = self._section("vectors")
            command = ("vectors", "train", *logs, "--output", Result("vectors.txt"))
            self._add(
                "vectors", trained, (*command, *self._seeded(trained)), running=self._running()
            )
            learned: tuple[Part, ...] = (
                *("--method", "embedding"),
                *("--vectors", Made("vectors", "vectors.txt")),
            )
        else:
            learned = ()
        command_ = ("mine", items, "--logs", *logs, *learned, "--output", Result("study"))
        self._add(
            "mine", section, (*command_, *self._seeded(section)),
            running=self._running(scales=True),
        )  # fmt: skip
        return Made("mine", "study")

    def _weighted(self, study: Given | Made) -> Given | Made:
        """The study with weights of its references, by a judge or by simulated raters."""
        section = self._section("weights")
        has_judge = "judge" in self._sections
        by = section.choice("by", _BY, "judge" if has_judge else "none")
        if by != "judge" and has_judge:
            # It rates for metrics of its own, beside the weights that the study has.
            self._metrics_judge = self._judge()
        if by == "none":
            section.check_empty()
            return study
        if by == "simulated":
            command = (
                "rate",
                "simulate",
                study,
                "--what",
                "references",
                "--output",
                Result("study"),
            )
            self._add("weights", section, (*command, *self._seeded(section)))
        else:
            judge = self._judge()
            command_ = ("judge", "apply", study, "--judge", judge, "--output", Result("study"))
            self._add("weights", section, (*command_, *section.options()), running=self._running())
        return Made("weights", "study")

    def _judge_of(self, section: Section) -> list[Part]:
        """The judge of the metrics that a command scores by, where some of them have one."""
        metrics = str(section.peek("metrics") or "")
        if self._metrics_judge is None or "upsilon" not in metrics or "judge" in section:
            return []
        self._is_judge_used = True
        return ["--judge", self._metrics_judge]

    def _judge(self) -> Given | Made:
        section = self._section("judge")
        if given := section.one_file("file"):
            section.check_empty()
            return given
        logs = self._logs_of("evaluator", section)
        command = ("judge", "train", *logs, "--output", Result("judge.safetensors"))
        self._add("judge", section, (*command, *self._seeded(section)), running=self._running())
        return Made("judge", "judge.safetensors")

    def _gathered(
        self,
        study: Given | Made,
        answers: Mapping[str, tuple[Given | Made, str]],
        items: Given | Made,
    ) -> tuple[Given | Made, bool]:
        """The study with all outputs and ratings; whether outputs have ratings."""
        ratings = self._section("ratings")
        given = ratings.files("file")
        by = ratings.choice("by", ("file", "simulated", "none"), "file" if given else "none")
        has_ratings = bool(given) or by == "simulated"
        if isinstance(items, Given):
            has_ratings |= any(Path(items.path).glob("ratings.*"))
        command: list[Part] = ["experiment", "gather", study]
        if answers:
            outputs = [Named(name, file) for name, (file, _) in answers.items()]
            types = [f"{name}={type_}" for name, (_, type_) in answers.items() if type_]
            command += ["--outputs", *outputs, *(["--types", *types] if types else [])]
        command += ["--ratings", *given] if given else []
        command += ["--note", self._note] if self._note else []
        command += ["--missing", self._missing] if self._missing else []
        self._add("study", self._section("systems"), (*command, "--output", Result("study")))
        whole = Made("study", "study")
        if by != "simulated":
            ratings.check_empty()
            return whole, has_ratings
        qualities = [f"{name}={value:g}" for name, value in self._qualities.items()]
        simulate: list[Part] = ["rate", "simulate", whole, "--what", "outputs"]
        simulate += ["--quality", *qualities] if qualities else []
        self._add(
            "ratings", ratings, (*simulate, "--output", Result("study"), *self._seeded(ratings))
        )
        return Made("ratings", "study"), True

    def _report(self, study: Given | Made) -> None:
        section = self._section("report")
        title = section.take("title", str) or self._title
        judge = self._judge_of(section)
        self._add(
            "report",
            section,
            (
                *("report", study, "--title", title, "--output", Result("report.html")),
                *("--files", Result("tables"), *judge, *self._seeded(section)),
            ),
        )
        if self._metrics_judge is not None and not self._is_judge_used:
            self._refuse(
                "judge", "has no use: weights are by others, and no metrics are upsilon-..."
            )
