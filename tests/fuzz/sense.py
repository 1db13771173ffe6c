"""Options that make sense together: what a command is about, and what goes with that."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.fuzz.campaigns import make_settings, names_of_raters
from tests.fuzz.commands import Command, Option, metric_names
from tests.fuzz.layouts import Foreign
from tests.fuzz.values import WORDS, file_stem, hostile_text
from tests.fuzz.world import World

#: Values of each option that was given; None for a flag.
Given = dict[str, list[str] | None]

#: Small, since a case that takes seconds costs hundreds of others.
_SIZES: dict[str, tuple[float, ...]] = {
    "resamples": (10, 20),
    "trials": (20, 50),
    "replicates": (3, 5),
    "epochs": (1, 2),
    "dimension": (1, 4),
    "embedding": (2, 4),
    "hidden": (2, 4),
    "layer": (2, 4),
    "layers": (1, 2),
    "max_length": (5, 20),
    "batch": (1, 3, 50),
    "vocabulary_size": (20, 50),
    "min_count": (1, 2),
    "window": (1, 3),
    "validation": (2,),
    "max_responses": (2, 5),
    "threads": (1, 2),
    "order": (1, 2, 4),
    "top": (1, 2, 5),
    "changes": (0, 1, 3),
    "min_posts": (2, 3),
    "margin": (1, 5),
    "power": (0.5, 0.8),
    "min_raters": (1,),
    "significance": (0.05, 0.2),
    "confidence": (0.5, 0.95),
    "smooth_value": (0.1, 1),
    "learning_rate": (0.01, 0.1),
    "diversity": (0.3, 0.9),
    "min_words": (0, 1, 2),
    "max_words": (5, 20),
    "worst": (1, 2),
    "best": (1, 2),
    "patience": (1, 2),
    "most": (1, 3),
    "target": (0.01, 0.5, 0.9),
    "categories": (2, 5),
    "prior": (0.5, 1, 3),
    "max_vocabulary": (5, 50),
    "pilot_raters": (2, 3),
    "pilot": (1, 2),
    "dev": (0.3, 0.5),
    "keep": (1, 2, 3),
}
#: Given nearly always: by default they are what people need, and not what tests need.
_SHORTENED = {
    "resamples", "trials", "replicates", "epochs", "dimension", "embedding", "hidden", "layer",
    "vocabulary", "validation", "min_count", "prior",
}  # fmt: skip
_LIKELY = {"output": 0.5, "html": 0.5, "format": 0.3, "work": 0.3, "ci": 0.5, "parrot": 0.3}
_METRIC_OPTIONS = (
    "order", "tokenize", "lowercase", "normalize", "strip_punctuation", "variant", "smooth",
    "smooth_value", "effective_order", "combine", "brevity", "method", "pool", "alpha", "triplets",
    "magnitude", "original",
)  # fmt: skip
#: What nothing but a mistake would give: other people's encoders, cluster keys.
_NEVER = (
    "database", "tls_ca", "tls_cert", "tls_key", "list", "without_references", "names", "sources",
)  # fmt: skip
#: Commands that change a campaign.
_CHANGES = ("add", "link", "revoke", "forget", "exclude", "pause", "resume", "restore")
_OF_METHODS = {
    "bm25": ("product", "k1", "b", "idf"),
    "embedding": ("vectors", "unknown"),
    "encoder": ("encoder",),
}


class Sense:
    """Draws options that go together, in a world that has what they name.

    Parameters
    ----------
    world, command
    seed
        Each option draws by itself, so that a case stays what it is when others get options.
    """

    def __init__(self, world: World, command: Command, seed: int) -> None:
        self.world, self.command, self.seed = world, command, seed
        self.rng = random.Random(f"{seed} sense")
        self.positional: dict[str, list[str]] = {}
        self.given: Given = {}
        self.outputs: list[Path] = []  # where new files may be
        self.source = "study"  # or plain files, or ready scores
        self.metrics: tuple[str, ...] = ()

    def draw(self) -> None:
        """Fill `positional` and `given`."""
        rng = self.rng
        if self.command.path == ("import",):
            self._import()
        else:
            self._about()
        if self.command.option("metrics") or self.command.option("metric"):
            self._choose_metrics()
        self._first_choices()
        usual = rng.choice((0.0, 0.05, 0.1, 0.3))
        for option in self.command.options:
            if option.key in (*self.positional, *self.given) or option.position is not None:
                continue
            self.rng = random.Random(f"{self.seed} {option.key}")
            if self.rng.random() < self._likely(option, usual):
                self.given[option.key] = self.value(option)
        self.rng = rng

    def _likely(self, option: Option, usual: float) -> float:
        if option.required:
            return 1.0
        if not self.fits(option.key):
            return 0.0
        if option.key in _SHORTENED:
            return 1.0
        return _LIKELY.get(option.key, usual)

    # What it is about

    def _about(self) -> None:
        world, rng = self.world, self.rng
        for option in self.command.options:
            if option.position is None:
                continue
            if option.key == "paths":
                how = rng.random()
                if how < 0.6:
                    self.positional["paths"] = [self._shown(world.study())]
                elif how < 0.9 or self.command.option("scores") is None:
                    self.source = "files"
                    self.positional["paths"] = list(map(self._shown, world.outputs()))
                    self.given["refs"] = list(map(self._shown, world.references()))
                    if world.rated:
                        self.given["weights"] = [self._shown(world.weights())]
                else:
                    self.source = "scores"
                    self.positional["paths"] = []
                    self.given["scores"] = [self._shown(world.scores())]
            elif not option.required and option.key == "study" and rng.random() < 0.2:
                self.source = "scores"
                self.positional["study"] = []
                self.given["scores"] = [self._shown(world.scores())]
                self.given["human"] = [self._shown(world.human())]
            else:
                self.positional[option.key] = self.value(option) or []
        if self.command.path == ("validate",) and self.source == "study" and not world.judged:
            self.given["human"] = [self._shown(world.human())]

    def _import(self) -> None:
        foreign = Foreign(self.world)
        layouts = foreign.layouts()
        layout = self.rng.choice(sorted(layouts))
        paths, options = layouts[layout]()
        self.positional["layout"] = [layout]
        self.positional["paths"] = [self._shown(Path(one)) for one in paths]
        self.given.update(options)
        if self.rng.random() < 0.15:
            self.given["dry_run"] = None
        else:
            self.given["output"] = [str(self._result("output"))]

    def _shown(self, path: Path) -> str:
        return os.path.relpath(path, self.world.cwd) if self.rng.random() < 0.3 else str(path)

    def _choose_metrics(self) -> None:
        world, rng = self.world, self.rng
        rated = world.rated
        if self.source == "scores":
            return
        self.metrics = ("delta-bleu", "bleu") if rated else ("bleu",)
        if rng.random() < 0.4:
            return
        explained = self.command.path == ("explain",)
        able = [name for name in ("delta-bleu", "bleu") if rated or name == "bleu"]
        if not explained:
            needy = ("delta-vectors", "delta-table", "soft-table")
            plan = self.command.path == ("plan", "compare")
            paired = self.command.path[0] in ("compare", "gate", "report", "plan")
            pooled = ("distinct", "entropy")
            able = [
                name
                for name in metric_names()
                if not (paired and name == "constant")
                and (rated or ("delta" not in name and "upsilon" not in name))
                and not (world.bare and name in ("ibleu", "message-overlap"))
                and not (plan and name in (*needy, "upsilon-bleu", "upsilon-chrf"))
                and not (plan and name.startswith(pooled))
            ]
        single = self.command.option("metric") is not None
        self.metrics = tuple(rng.sample(able, 1 if single else min(len(able), rng.randint(1, 3))))
        if single:
            self.given["metric"] = list(self.metrics)
        else:
            self.given["metrics"] = [",".join(self.metrics)]
        if "delta-vectors" in self.metrics:
            self.given["vectors"] = [self._shown(world.vectors())]
        if {"delta-table", "soft-table"} & set(self.metrics):
            self.given["table"] = [self._shown(world.similarity_table())]
        upsilon = any(name.startswith("upsilon") for name in self.metrics)
        if upsilon and not world.bare and rng.random() < 0.5:
            self.given["judge"] = [str(world.model())]

    def _first_choices(self) -> None:
        """What other options hang on."""
        world, rng, path = self.world, self.rng, self.command.path
        names = world.names()
        if path == ("gate",):
            self.given["baseline"] = [rng.choice(names)]
            self.given["mode"] = [rng.choice(("worse", "worse", "non-inferior", "equivalent"))]
            if self.given["mode"] != ["worse"]:
                self.given["margin"] = [rng.choice(("0.5", "5", "1000"))]
            if rng.random() < 0.5:
                self.given["history"] = [str(self._result("history"))]
        elif path == ("compare",):
            if rng.random() < 0.4:
                self.given["baseline"] = [rng.choice(names)]
            weighted = all("delta" in name or "upsilon" in name for name in self.metrics)
            able = self.source == "study" and world.judged and not world.has_runs() and weighted
            if able and rng.random() < 0.2:
                self.given["resample"] = ["items,raters"]
        elif path == ("explain",):
            first, *others = rng.sample(world.systems, len(world.systems))
            self.given["system"] = [first]
            if others and rng.random() < 0.4:
                self.given["against"] = [others[0]]
            match rng.randrange(4):
                case 0:
                    self.given["item"] = [rng.choice(world.items)]
                case 1:
                    self.given["worst"] = ["2"]
                case 2:
                    self.given["best"] = ["1"]
        elif path == ("mine",):
            if world.bare:
                self.given["on"] = ["response"]
            method = rng.choice(("bm25", "bm25", "embedding", "encoder"))
            self.given["method"] = [method]
            if method == "embedding":
                self.given["vectors"] = [str(world.vectors())]
            elif method == "encoder":
                self.given["encoder"] = ["tests.fuzz.encoders:letters"]
        elif path[0] == "rate":
            self._campaign_choices()
        elif path[0] == "logs" and rng.random() < 0.4:
            self.given["split"] = self._known()["split"]()
            names = [one.partition("=")[0].partition(":")[0] for one in self._split().split(",")]
            if path == ("logs", "sample"):
                self.given["period"] = [rng.choice(names)]
        if path == ("logs", "sample"):
            self.given["as"] = ["upsilon" if world.raw_kind == "posts" else "triples"]

    def _campaign_choices(self) -> None:
        """What is rated, how, and who does it."""
        world, rng, name = self.world, self.rng, self.command.path[1]
        if name == "new":
            kinds = ["references", "outputs", "outputs", "pairs", "seeds"]
            what = rng.choice(kinds[: 5 if len(world.systems) > 1 else 3])
            # Plain references have no origin.
            self.given["what"] = ["references" if what == "seeds" and world.bare else what]
            if rng.random() < 0.3:
                self.given["settings"] = [self._shown(make_settings(world))]
            elif rng.random() < 0.5:
                scales = ("preference",) if what == "pairs" else ("likert5", "slider100")
                self.given["scale"] = [rng.choice(scales)]
        elif name == "add":
            self.given["raters"] = names_of_raters(world, new=True)
        if name in _CHANGES or (name == "pilot" and rng.random() < 0.3):
            self.outputs.append(world.campaign(self._rated()))
            if name == "pilot":
                self.given["open"] = None

    def _campaign(self) -> Path:
        """A new one, or one that is there."""
        if self.command.path == ("rate", "new"):
            return self._result("campaign")
        return self.world.campaign(self._rated())

    def _rated(self) -> str:
        """What a campaign is about."""
        kinds = {"weights": ("references",), "seeds": ("seeds",)}
        usual = ("references", "outputs", "pairs")
        return self.rng.choice(kinds.get(self.command.path[1], usual))

    def _split(self) -> str:
        return (self.given.get("split") or [""])[0]

    # What goes with it

    def has(self, *keys: str) -> bool:
        return all(key in self.given for key in keys)

    def is_(self, key: str, value: str) -> bool:
        return self.given.get(key) == [value]

    def fits(self, key: str) -> bool:
        """Whether an option makes sense beside those that are given."""
        if key in _NEVER:
            return False
        if key in _METRIC_OPTIONS and self.metrics:
            smooth = (self.given.get("smooth") or [""])[0]
            if key == "smooth_value" and smooth not in ("floor", "add-k"):
                return False
            return any(key in _settings(name) for name in self.metrics)
        rules = self._rules()
        rule = rules.get(f"{self.command.name}.{key}", rules.get(key))
        return True if rule is None else bool(rule)

    def _rules(self) -> Mapping[str, object]:
        world = self.world
        texts, study = self.source != "scores", self.source == "study"
        judged = study and world.judged
        weighted = all("delta" in name or "upsilon" in name for name in self.metrics)
        raters = self.is_("resample", "items,raters")
        meta = study and not world.bare
        method = (self.given.get("method") or ["bm25"])[0]
        kind = world.raw_kind
        return {
            **dict.fromkeys(("select", "no_positive", "missing"), texts),
            **dict.fromkeys(_METRIC_OPTIONS, self.command.option("metrics") is None),
            **dict.fromkeys(("vectors", "table", "judge", "refs", "weights", "scores", "human"), 0),
            "metric": False,
            "metrics": False,
            "runs": not world.has_runs(),
            "bucket": meta,
            "systems": study,
            "group": meta,
            "criterion": judged,
            "columns": False,
            "human_columns": False,
            "score.group": meta and self.has("ci"),
            "score.interval": self.has("ci"),
            "score.confidence": self.has("ci"),
            "score.resamples": self.has("ci"),
            "lower_is_better": self.source == "scores",
            "compare.criterion": raters,
            "compare.fail_if": self.has("baseline") and not raters,
            "compare.sensitivity": texts and not raters and weighted,
            "past": not self.has("order") and {*self.metrics} <= {"bleu", "delta-bleu"},
            "plan compare.group": False,
            "compare.tests": not raters and not world.has_runs(),
            "compare.interval": not raters and not world.has_runs(),
            "compare.resample": False,
            "past_model": self.has("past"),
            "commit": self.has("history"),
            "sequential": self.has("history"),
            "scale": not self.has("human"),
            "min_raters": not self.has("human"),
            "validate.unknown": not self.has("human"),
            "threshold": "kendall-like" in (self.given.get("methods") or [""])[0],
            "report.criterion": judged,
            "rate agree.targets": False,
            "rate new.preset": False,
            "rate new.scale": False,
            "rate new.settings": False,
            "rate new.practice": True,
            "rate new.pairs": self.is_("what", "pairs"),
            "rate new.systems": not self.is_("what", "pairs") and not world.has_runs(),
            "rate new.count_ratings": world.judged and not self.has("pilot", "controls"),
            "rate new.controls": not self.is_("what", "pairs") and not self.has("pilot"),
            "rate new.pilot": not self.has("count_ratings", "controls"),
            "rate new.raters": True,
            "rate add.pairs": False,
            "rate pilot.open": False,
            "rate pilot.per_item": self.has("open"),
            "rate weights.criterion": True,
            "rate rank.criterion": True,
            "rate rank.systems": len(world.systems) > 1,
            "plan compare.criterion": judged and self.has("raters"),
            "raters": judged and weighted,
            "item": False,
            "worst": False,
            "best": False,
            "against": False,
            **dict.fromkeys(("crossing", "drop_overlap", "split_seed"), self.has("split")),
            "crossing": "=" in self._split(),
            "split_seed": ":" in self._split(),
            "logs pairs.seed": ":" in self._split(),
            "logs pairs.form": self.has("split"),
            "period": False,
            "split": False,
            "responder": kind == "conversations",
            "roles": kind == "conversations",
            **dict.fromkeys(("users", "own_replies", "clock_skew"), kind == "posts"),
            "logs sample.min_bigram_count": self.is_("as", "triples"),
            **{
                f"mine.{key}": method == name
                for name, keys in _OF_METHODS.items()
                for key in keys
                if key not in ("vectors", "encoder")
            },
            "mine.product": method == "bm25" and not self.has("on"),
            "mine.alpha": method == "bm25" and not self.has("on") and not self.has("product"),
            "mine.epsilon": method == "bm25" and not self.has("on") and not self.has("product"),
            "mine.encoder": False,
            **{f"import.{key}": 0 for key in ("refs", "systems", "beside", "documents", "system")},
            **{f"import.{key}": 0 for key in ("separators", "where", "pair", "rename", "scale")},
        }

    # Values

    def value(self, option: Option) -> list[str] | None:
        """What the option takes; None for a flag."""
        rng = self.rng
        if option.type is bool:
            return None
        known = self._known().get(option.key)
        if known is not None:
            made = known()
            return list(map(str, made)) if isinstance(made, list) else [str(made)]
        if option.choices:
            return [rng.choice(option.choices)]
        if option.type is int:
            return [str(int(rng.choice(_SIZES.get(option.key, (1, 2, 3, 5)))))]
        if option.type is float:
            return [str(rng.choice(_SIZES.get(option.key, (0.5, 0.05, 0.95, 1))))]
        if option.type is Path:
            return [str(self._result(option.key))]
        return [hostile_text(rng) for _ in range(rng.randint(1, 2) if option.several else 1)]

    def _result(self, key: str) -> Path:
        """Where something new goes."""
        rng = self.rng
        if key == "work":
            path = rng.choice((self.world.work, self.world.results / "scratch"))
        else:
            stem = file_stem(rng) if rng.random() < 0.02 else f"new-{key}"
            path = self.world.results / f"{stem}{rng.choice(self._endings(key))}"
        self.outputs.append(path)
        return path

    def _endings(self, key: str) -> tuple[str, ...]:
        path = self.command.path
        own: dict[str, tuple[str, ...]] = {
            "plot": (".svg", ".png"),
            "html": (".html",),
            "junit": (".xml",),
            "summary": (".md",),
            "history": (".jsonl",),
            "links": (".csv",),
            "kept": (".csv", ".tsv", ".jsonl"),
        }
        by_command: dict[tuple[str, ...], tuple[str, ...]] = {
            ("vectors", "train"): (".txt", ".bin", ".txt.gz"),
            ("judge", "train"): (".safetensors",),
            ("judge", "apply"): ("",),
            ("logs", "sample"): ("",),
            ("logs", "pairs"): ("",)
            if self.has("split")
            else (".tsv", ".jsonl", ".tsv.gz", ".parquet"),
            ("gate", "history"): (".svg", ".html", ".txt"),
            ("report",): (".html",),
            ("mine",): ("",),
            ("import",): ("",),
            ("rate", "new"): ("",),
            ("rate", "export"): (".csv", ".tsv", ".jsonl", ".parquet"),
            ("rate", "weights"): ("",),
            ("rate", "seeds"): ("",),
            ("rate", "backup"): (".sqlite",),
            ("tune", "mbr"): (".jsonl", ".tsv", ".txt"),
        }
        return own.get(key) or by_command.get(path, (".txt", ".json", ""))

    def _systems(self) -> list[str]:
        """Some of them, the baseline among them."""
        names = self.world.names() if self.command.path != ("explain",) else self.world.systems
        if self.command.path[:1] == ("rate",):
            return self.rng.sample(self.world.systems, min(2, len(self.world.systems)))
        if self.command.path == ("plan", "compare"):
            names = self.world.systems
            return self.rng.sample(names, min(2, len(names)))
        some = self.rng.sample(names, self.rng.randint(min(2, len(names)), len(names)))
        first = self.given.get("baseline") or some[:1]
        return list(dict.fromkeys([*first, *some]))

    def _known(self) -> dict[str, Callable[[], Any]]:
        world, rng = self.world, self.rng

        def some(names: Any, most: int = 3) -> list[str]:
            return rng.sample(list(names), min(len(names), rng.randint(1, most)))

        def commas(*names: str) -> Callable[[], str]:
            return lambda: ",".join(some(names))

        def numbers() -> list[str]:
            return [rng.choice(("1", "2", "4", "all")) for _ in range(rng.randint(1, 2))]

        def raters() -> list[str]:
            return names_of_raters(world, new=path[1] in ("new", "add"))

        path = self.command.path
        tables = {
            "compare": ("systems", "pairs", "matrix"),
            "validate": ("people", "agreement", "matrix"),
            "rate agree": ("summary", "measures", "enough", "raters", "icc", "correlations"),
            "rate rank": ("systems", "pairs", "position"),
        }
        criteria = {("compare",): "studentized", ("validate",): "auto"}
        return {
            "study": world.study,
            "logs": lambda: [world.logs()],
            "files": lambda: [world.raw_logs()],
            "file": world.history,
            "words": lambda: some(WORDS),
            "model": world.model,
            "judge": world.model,
            "vectors": world.vectors,
            "table": world.similarity_table,
            "past": world.past,
            "human": world.human,
            "ratings": world.preferences if path[-1] == "rank" else world.ratings,
            "scores": lambda: [world.scores()],
            "nbest": world.nbest,
            "utility": lambda: rng.choice(metric_names()),
            "probabilities": lambda: rng.choice(("uniform", "total", "LM")),
            "refs": world.references,
            "weights": world.weights,
            "systems": self._systems,
            "system": lambda: rng.choice(world.systems),
            "against": lambda: rng.choice(world.systems),
            "baseline": lambda: rng.choice(world.names()),
            "item": lambda: rng.choice(world.items),
            "metrics": lambda: ",".join(some(metric_names())),
            "metric": lambda: rng.choice(metric_names()),
            "lower_is_better": lambda: ["comet"],
            "tests": (
                commas(
                    "studentized", "randomization", "permutation", "bootstrap", "koehn", "moses",
                    "wilcoxon", "t-test",
                )
                if criteria.get(path) == "studentized"
                else lambda: rng.choice(
                    ("auto", "perm-both", "perm-systems", "perm-items", "bootstrap-both",
                     "bootstrap-systems", "bootstrap-items", "williams")
                )
            ),
            "methods": commas(
                "pearson", "spearman", "kendall-b", "kendall-c", "kendall-wei", "kendall-like"
            ),
            "levels": commas("system", "pooled", "item"),
            "tables": commas(*tables.get(self.command.name, ("systems",))),
            "select": lambda: rng.choice(
                ("all", "single", "w>=0.6", "w>=-1") if world.rated else ("all", "single")
            ),
            "group": lambda: "document",
            "bucket": lambda: ["document"],
            "criterion": lambda: "overall",
            "tokenize": lambda: rng.choice(
                ("none", "13a", "char", "intl", "zh")
                if self.command.option("order") or path == ("report",)
                else ("words", "13a", "char")
            ),
            "columns": lambda: rng.choice(("id=id", "text=body", "user=author.name", "")),
            "split": lambda: [
                rng.choice(
                    ("old=2017,new=2018", "a=2017..2018-06,b=2019", "a:0.5,b:0.5", "a:0.9,b:0.1")
                    if world.raw_kind == "posts"
                    else ("a:0.5,b:0.5", "a:0.9,b:0.1")
                )
            ],
            "memory": lambda: rng.choice(("1MB", "100MB", "2GB")),
            "partition_size": lambda: rng.choice(("1", "200", "1MB")),
            "engine": lambda: "threads",
            "encoder": lambda: rng.choice(
                ("nosuch:thing", "math:nan", "builtins:len", "tests.fuzz.encoders:raises",
                 "tests.fuzz.encoders:letters", "tests.fuzz.encoders:nothing")
            ),
            "vocabulary": lambda: "words",
            "items": lambda: [
                rng.choice(("2", "4", "8"))
                for _ in range(1 if path == ("logs", "sample") else rng.randint(1, 2))
            ],
            "period": lambda: rng.choice(("old", "new", "a", "b", "2017", "2018..")),
            "exclude": lambda: [world.logs()],
            "roles": lambda: "user,assistant" if world.raw_roles else "u0,u1",
            "responder": lambda: "assistant" if world.raw_roles else "u1",
            "references": numbers,
            "raters": numbers if path[0] != "rate" else raters,
            "campaign": self._campaign,
            "backup": lambda: world.backup(self._rated()),
            "language": lambda: rng.choice(("en", "de", "ja", "ar")),
            "crowd": lambda: rng.choice(("PROLIFIC_PID", "workerId")),
            "url": lambda: rng.choice(("https://example.org/study", "http://localhost:9/")),
            "pairs": lambda: [",".join(rng.sample(world.systems, 2))],
            "original": lambda: rng.choice(("1", "rated")),
            "title": lambda: hostile_text(rng),
            "commit": lambda: hostile_text(rng),
        }  # fmt: skip


def _settings(name: str) -> frozenset[str]:
    from deltableu.score import metric_settings

    return frozenset(metric_settings(name))
