"""What a campaign asks, of whom and how: `campaign.toml` in, settings out, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from deltableu.errors import InputError, Problem, check_choice, hint_at
from deltableu.io import Checker, Report, atomic_write, fail, read_toml, toml_lines

What: TypeAlias = Literal["references", "outputs", "pairs", "seeds"]
RatingScale: TypeAlias = Literal["likert5", "slider100", "preference"]
PageLayout: TypeAlias = Literal["dialogue", "assessment"]

SETTINGS_FILE = "campaign.toml"
#: How ratings of each scale are written to files; a preference gives 1, 1/2 or 0.
SCALES: Mapping[str, str] = {"likert5": "1-5", "slider100": "0-100", "preference": "0-1"}
#: The ends of each scale on the page, and what lies between neighbouring values.
_STEPS = {"likert5": (1.0, 5.0, 1.0), "slider100": (0.0, 100.0, 0.5), "preference": (0.0, 2.0, 1.0)}
_LABELS = {"likert5": 5, "slider100": 2, "preference": 3}
#: Most responses on a page, criteria, and letters of a text: what is larger is a mistake.
_MOST_CRITERIA = 12
#: Raters of one thing.
MOST_PER_ITEM = 10_000


@dataclass(frozen=True, slots=True)
class Criterion:
    """One question, with words for the answers: five, the two ends, or first, tie, second."""

    name: str
    question: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PracticeTask:
    """A task before the real ones; `accept` has the lowest and highest right value a response."""

    responses: tuple[str, ...]
    accept: tuple[tuple[float, float], ...]
    right: str
    wrong: str
    context: tuple[str, ...] = ()
    message: str | None = None
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class Campaign:
    """All settings of a campaign that are no secrets and may be edited by hand.

    Attributes
    ----------
    title : str
    what : str
        What is rated: references, outputs, pairs (of outputs) or seeds (candidate triples).
    scale : str
        likert5, slider100 or preference.
    layout : str
        dialogue, or assessment: the reference in gray and the text to judge in black.
    language : str
        Of the page's own words.
    criteria : tuple of Criterion
        Asked together on one page.
    per_item : int
        Number of raters for each thing that is rated.
    per_rater : int
        Most tasks of one rater; 0 is no limit.
    lease_minutes : float
        How long a rater has for a task before others may get it.
    pay_per_hour : float
        What a rater costs, in any currency, for the organiser's page; 0 is not known.
    instructions : tuple of str
        Paragraphs.
    practice : tuple of PracticeTask
    words : mapping
        Of the page, in place of those of its language.
    study : str
        The study that is rated, as a path from the campaign's folder.
    database : str
        Where answers are kept; empty is a file in the campaign's folder.
    url : str
        By which raters reach the server, such as https://example.org/study; empty where it runs
        on their own machine.
    crowd : str
        The name under which a crowd platform hands over its workers' ids, such as PROLIFIC_PID or
        workerId; then there is one link for all, and whoever comes with an id is a rater.
    completion_code, failed_code : str
        What raters are shown at the end, so that the platform pays: the second one for those whose
        answers to control items fail; by default the first for all.
    completion_url : str
        Where raters go at the end, with the code in the place of {code}.
    exclude_failed : bool
        Whether, when a rater comes to an end and fails, nothing of it counts, and others get the
        same tasks.
    min_seconds : float
        Who answers faster than this as a rule cannot have read, and fails.
    """

    title: str
    what: What
    scale: RatingScale
    criteria: tuple[Criterion, ...]
    layout: PageLayout = "dialogue"
    language: str = "en"
    per_item: int = 3
    per_rater: int = 0
    lease_minutes: float = 30.0
    pay_per_hour: float = 0.0
    instructions: tuple[str, ...] = ()
    practice: tuple[PracticeTask, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    study: str = ""
    database: str = ""
    url: str = ""
    crowd: str = ""
    completion_code: str = ""
    failed_code: str = ""
    completion_url: str = ""
    exclude_failed: bool = False
    min_seconds: float = 1.0

    @property
    def responses(self) -> int:
        """Number of responses on a page."""
        return 2 if self.what == "pairs" else 1

    @property
    def answer_rows(self) -> int:
        """Number of rows of values in an answer."""
        return 1 if self.scale == "preference" else self.responses

    def accepts(self, value: float) -> bool:
        """Whether an answer of one criterion is on the scale."""
        low, high, step = _STEPS[self.scale]
        return low <= value <= high and (value / step).is_integer()


def read_campaign(folder: Path) -> Campaign:
    """Read a campaign's settings."""
    path = folder / SETTINGS_FILE
    if not path.is_file():
        there = "is no campaign: it holds no campaign.toml" if folder.is_dir() else "is not there"
        raise InputError(Problem(f"{there} (deltableu rate new makes one)", file=str(folder)))
    return _settings(read_toml(path), str(path), fail)


def write_campaign(folder: Path, campaign: Campaign) -> None:
    """Write settings so that reading them gives the same."""
    with atomic_write(folder / SETTINGS_FILE) as file:
        file.write("# Questions, words and numbers may be changed; a server reads them when it ")
        file.write("starts.\n")
        file.writelines(f"{line}\n" for line in toml_lines(_document(campaign)))


def _document(campaign: Campaign) -> dict[str, object]:
    values = asdict(campaign)
    words = values.pop("words")
    kept = {key: value for key, value in values.items() if value not in ((), "")}
    kept["practice"] = [
        {key: value for key, value in one.items() if value not in ((), None)}
        for one in values["practice"]
    ]
    if not kept["practice"]:
        del kept["practice"]
    if words:
        kept["words"] = words
    return kept


def preset_names() -> list[str]:
    """Names of all presets."""
    folder = resources.files("deltableu.rate.server") / "presets"
    return sorted(one.name.removesuffix(".toml") for one in folder.iterdir())


def preset(name: str) -> dict[str, object]:
    """The wording of a preset, as a part of `campaign.toml`."""
    folder = resources.files("deltableu.rate.server") / "presets"
    names = preset_names()
    if name not in names:
        meant = hint_at(name, names)
        raise InputError(f"there is no preset {name!r}; there are {', '.join(names)}{meant}")
    with resources.as_file(folder / f"{name}.toml") as path:
        return read_toml(path)


def page_words(language: str) -> dict[str, str]:
    """What the page says in a language, apart from the campaign's own questions."""
    folder = resources.files("deltableu.rate.server") / "words"
    names = sorted(one.name.removesuffix(".toml") for one in folder.iterdir())
    check_choice("language", language, names)
    with resources.as_file(folder / f"{language}.toml") as path:
        return {key: str(value) for key, value in read_toml(path).items()}


def settings_from(values: Mapping[str, object], where: str) -> Campaign:
    """Settings from a preset's or file's values and others, checked."""
    return _settings(values, where, fail)


def _settings(values: Mapping[str, object], where: str, report: Report) -> Campaign:
    checker = Checker(where, report)
    checker.start(None)
    checker.unknown(values, Campaign.__dataclass_fields__)
    texts = {
        name: checker.text(values.get(name, default), name)
        for name, default in (
            ("title", "Rate responses"),
            ("language", "en"),
            ("study", ""),
            ("database", ""),
            ("url", ""),
            ("crowd", ""),
            ("completion_code", ""),
            ("failed_code", ""),
            ("completion_url", ""),
        )
    }
    choices = {
        name: _choice(checker, values.get(name, kinds[0]), name, kinds)
        for name, kinds in (
            ("what", get_args(What)),
            ("scale", get_args(RatingScale)),
            ("layout", get_args(PageLayout)),
        )
    }
    numbers = {}
    for name, default, least, most in (
        ("per_item", 3, 1, MOST_PER_ITEM),
        ("per_rater", 0, 0, 10_000_000),
        ("lease_minutes", 30.0, 0.01, 100_000.0),
        ("pay_per_hour", 0.0, 0.0, 1e9),
        ("min_seconds", 1.0, 0.0, 1e6),
    ):
        value = checker.number(values.get(name, default), name)
        if value is not None and not least <= value <= most:
            checker.complain(name, f"must lie between {least} and {most}, got {value:g}")
        numbers[name] = value
    criteria = _tables(checker, values.get("criteria", []), "criteria")
    made = Campaign(
        title=texts["title"],
        what=choices["what"],  # type: ignore[arg-type]
        scale=choices["scale"],  # type: ignore[arg-type]
        criteria=tuple(
            _criterion(one, f"criteria[{place}]", choices["scale"], checker)
            for place, one in enumerate(criteria)
        ),
        layout=choices["layout"],  # type: ignore[arg-type]
        language=texts["language"],
        per_item=int(numbers["per_item"] or 1),
        per_rater=int(numbers["per_rater"] or 0),
        lease_minutes=float(numbers["lease_minutes"] or 30.0),
        pay_per_hour=float(numbers["pay_per_hour"] or 0.0),
        min_seconds=float(numbers["min_seconds"] or 0.0),
        instructions=checker.texts(values.get("instructions", []), "instructions"),
        study=texts["study"],
        database=texts["database"],
        url=texts["url"],
        crowd=texts["crowd"],
        completion_code=texts["completion_code"],
        failed_code=texts["failed_code"],
        completion_url=texts["completion_url"],
        exclude_failed=_flag(checker, values.get("exclude_failed", False), "exclude_failed"),
    )
    practice = _tables(checker, values.get("practice", []), "practice")
    made = replace(
        made,
        practice=tuple(
            _practice(one, f"practice[{place}]", made, checker)
            for place, one in enumerate(practice)
        ),
        words=_words(checker, values.get("words", {})),
    )
    if not made.criteria or len(made.criteria) > _MOST_CRITERIA:
        checker.complain("criteria", f"there must be between 1 and {_MOST_CRITERIA} questions")
    names = [one.name for one in made.criteria]
    if len(set(names)) < len(names):
        checker.complain("criteria", "two questions have the same name")
    if made.scale == "preference" and made.what != "pairs":
        checker.complain("scale", "preference is a choice between two: it goes with what = pairs")
    if made.crowd and not made.crowd.replace("_", "").isalnum():
        checker.complain("crowd", f"must be letters, digits and _, got {made.crowd!r:.60}")
    if made.completion_url and urlsplit(made.completion_url).scheme not in ("http", "https"):
        checker.complain("completion_url", "must begin with http:// or https://")
    parts = urlsplit(made.url)
    if made.url and (parts.scheme not in ("http", "https") or not parts.hostname):
        checker.complain("url", f"must begin with http:// or https:// and a host, got {made.url!r}")
    if made.database and urlsplit(made.database).password:
        checker.complain("database", "must hold no password: set PGPASSWORD, or use ~/.pgpass")
    page_words(made.language)
    return made


def _flag(checker: Checker, value: object, name: str) -> bool:
    if not isinstance(value, bool):
        checker.complain(name, f"must be true or false, got {value!r:.60}")
    return value is True


def _choice(checker: Checker, value: object, name: str, kinds: tuple[str, ...]) -> str:
    if value not in kinds:
        checker.complain(name, f"must be one of {', '.join(kinds)}, got {value!r:.60}")
        return kinds[0]
    return str(value)


def _tables(checker: Checker, value: object, name: str) -> list[Mapping[str, object]]:
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        checker.complain(name, f"must be tables: write [[{name}]] before each")
        return []
    return value


def _criterion(value: Mapping[str, object], place: str, scale: str, checker: Checker) -> Criterion:
    checker.unknown(value, Criterion.__dataclass_fields__, f"{place}.")
    labels = checker.texts(value.get("labels", []), f"{place}.labels")
    if len(labels) != _LABELS[scale]:
        checker.complain(f"{place}.labels", f"{scale} has {_LABELS[scale]}, got {len(labels)}")
    return Criterion(
        checker.identifier(value.get("name"), f"{place}.name"),
        checker.text(value.get("question"), f"{place}.question"),
        labels,
    )


def _practice(
    value: Mapping[str, object], place: str, campaign: Campaign, checker: Checker
) -> PracticeTask:
    checker.unknown(value, PracticeTask.__dataclass_fields__, f"{place}.")
    accept = value.get("accept", [])
    ends: list[tuple[float, float]] = []
    for one in accept if isinstance(accept, list) else [accept]:
        if not isinstance(one, list) or len(one) != 2:
            checker.complain(f"{place}.accept", "must hold [lowest, highest] for each response")
            continue
        low, high = (checker.number(end, f"{place}.accept") for end in one)
        ends.append((low or 0.0, high or 0.0))
    responses = checker.texts(value.get("responses", []), f"{place}.responses")
    if len(responses) != campaign.responses:
        wanted = campaign.responses
        checker.complain(f"{place}.responses", f"there must be {wanted}, got {len(responses)}")
    if len(ends) != campaign.answer_rows:
        wanted = campaign.answer_rows
        checker.complain(f"{place}.accept", f"must hold {wanted} ranges, got {len(ends)}")
    return PracticeTask(
        responses,
        tuple(ends),
        checker.text(value.get("right"), f"{place}.right"),
        checker.text(value.get("wrong"), f"{place}.wrong"),
        checker.texts(value.get("context", []), f"{place}.context"),
        checker.optional_text(value.get("message"), f"{place}.message"),
        checker.optional_text(value.get("reference"), f"{place}.reference"),
    )


def _words(checker: Checker, value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        checker.complain("words", "must be a table of texts")
        return {}
    return {str(key): checker.text(text, f"words.{key}") for key, text in value.items()}
