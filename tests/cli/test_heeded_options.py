"""No option is ignored without a word."""

from __future__ import annotations

from dataclasses import fields
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from deltableu.cli.metric_options import MetricOptions, noted_metrics
from deltableu.cli.streams import tell_remarks
from deltableu.errors import InputError
from deltableu.score.registry import make_metrics, metric_names, metric_settings

#: A value of each setting that is no choice.
VALUES = {
    "order": 3,
    "tokenize": "char",
    "lowercase": True,
    "strip_punctuation": True,
    "smooth_value": 0.3,
    "effective_order": True,
    "alpha": 0.4,
}
#: Files and models, which say by themselves which metrics they are for, and how to use a judge.
OF_THEIR_METRICS = {"vectors", "table", "judge", "triplets", "magnitude", "original"} | {
    *("model", "relevance", "referenced", "pooling", "all_references", "blend", "calibration"),
    *("neutral", "tau", "encoder", "negatives"),
}
#: Metrics that cannot be made without a file.
FILES = {"vectors", "table", "model", "relevance"}
PLAIN = [name for name in metric_names() if not FILES & metric_settings(name)]


def settings() -> dict[str, list[object]]:
    """Every setting that the command has, with all its choices or some value."""
    hints = get_type_hints(MetricOptions)
    found: dict[str, list[object]] = {}
    for one in fields(MetricOptions):
        choices = get_args(hints[one.name]) if get_origin(hints[one.name]) is Literal else None
        if one.name not in OF_THEIR_METRICS:
            found[one.name] = [*(choices or [VALUES[one.name]])]
    return found


CASES = [
    (name, setting, value)
    for name in PLAIN
    for setting, values in settings().items()
    for value in values
    if value != "default"
]


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """What is said when the command has ended."""
    tell_remarks()
    return capsys.readouterr().err


def given(setting: str, value: object) -> dict[str, object]:
    return MetricOptions(**{setting: value}).changed()


@pytest.mark.parametrize("name", PLAIN)
def test_every_setting_changes_the_signature_or_is_refused_or_said(name, capsys):
    """Or asks for what is so by default."""
    (plain,) = make_metrics([name], {})
    for _, setting, value in (case for case in CASES if case[0] == name):
        options = given(setting, value)
        assert list(options) == [setting]
        refusal = ""
        try:
            (made,) = noted_metrics([name], options)
        except InputError as error:
            refusal = str(error)
        if refusal:
            assert f"{setting!r}" in refusal
            heeding = next(one for one in HEEDING[setting] if one != name)
            more = {"smooth": "floor"} if setting == "smooth_value" else {}
            made, _ = noted_metrics([name, heeding], {**options, **more})
            notes = told(capsys)
            idle = setting == "smooth_value" and "smooth" in metric_settings(name)
            if not idle or getattr(made, "combine", None) == "arithmetic":
                assert made.settings() == plain.settings()
                said = f"--{setting.replace('_', '-')} is not heeded by {name}"
                assert said in notes
        else:
            assert told(capsys) == ""
            by_default = {getattr(plain, setting), getattr(plain, "smoothing", None)}
            assert (
                value in by_default
                or options[setting] in by_default
                or (made.settings() != plain.settings())
            )


HEEDING = {setting: [n for n in PLAIN if setting in metric_settings(n)] for setting in settings()}


def test_a_note_names_all(capsys):
    noted_metrics(["bleu", "chrf", "ter"], {"normalize": "NFC", "order": 2, "lowercase": True})
    assert told(capsys) == (
        "deltableu: --normalize is not heeded by chrf and ter; "
        "--order is not heeded by chrf and ter\n"
    )


def test_a_signed_mean_stays_one():
    """An option for its neighbours does not make it geometric."""
    signed, _ = make_metrics(["signed-delta-bleu", "delta-bleu"], {"combine": "geometric"})
    assert ("combine", "arithmetic") in signed.settings()
    assert "combine" not in metric_settings("signed-delta-bleu")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("score --metrics bleu,chrf --normalize NFC", "--normalize is not heeded by chrf"),
        ("score --variant paper", "--variant is not heeded by bleu-2"),
        ("compare --metrics bleu,ter --order 2", "--order is not heeded by ter"),
        ("compare --metrics chrf,rouge-l --lowercase", "--lowercase is not heeded by rouge-l"),
        (
            "validate --metrics bleu,chrf --tokenize none --resamples 20",
            "--tokenize is not heeded by chrf",
        ),
        (
            "validate --order 3 --resamples 20",
            "--order is not heeded by delta-chrf++ and chrf++",
        ),
        ("report --metrics bleu,chrf --tokenize none -o", "--tokenize is not heeded by chrf"),
    ],
)
def test_every_command_says_so(command, said, run, demo, tmp_path):
    name, *options = command.split()
    options += [tmp_path / "page.html"] if options[-1] == "-o" else []
    result = run(name, demo, *options)
    assert result.code == 0
    assert f"deltableu: {said}\n" in result.err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("score --smooth-value 0.1 --metrics bleu", "'smooth_value' changes nothing in bleu"),
        ("score --combine arithmetic --smooth exp", "'smooth' changes nothing in delta-bleu and"),
        ("score --metrics chrf --variant paper", "chrf has no setting 'variant'"),
        ("score --metrics chrf,ter --normalize none", "chrf and ter have no setting 'normalize'"),
        ("score --brevity none", "--brevity"),
        ("score --triplets none --metrics upsilon-bleu", "--triplets"),
        ("score --confidence 0.9", "--confidence is of no use with scores without --ci"),
        ("score --interval bca", "--interval is of no use with scores without --ci"),
        ("score --group dialogue", "--group is of no use with scores without --ci"),
        ("compare --criterion overall", "--criterion is of no use with --resample items"),
        ("compare --past-model logistic", "--past-model is of no use with no --past comparisons"),
        ("compare --lower-is-better", "--lower-is-better goes with --scores"),
        ("compare --lower-is-better --resample items,raters", "--lower-is-better goes with"),
        ("validate --threshold 5", "--threshold is of no use with --methods other than kendall-l"),
        ("validate --lower-is-better bleu --metrics bleu", "'bleu', which no table has"),
        ("plan compare --systems human random --criterion x", "--criterion is of no use with no "),
        ("explain --system human --metric bleu --variant paper", "bleu has no setting 'variant'"),
        ("explain --system human --metric bleu --smooth-value 1", "changes nothing in bleu"),
    ],
)
def test_what_nothing_heeds_is_refused(command, said, run, demo):
    words = command.split()
    at = 2 if words[0] == "plan" else 1
    result = run(*words[:at], demo, *words[at:])
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("compare --scores {0} --select single", "--select is of no use with --scores"),
        ("compare --scores {0} --no-positive skip", "--no-positive is of no use with --scores"),
        ("compare --scores {0} --order 2", "--order is of no use with ready --scores"),
        ("validate --scores {0} --human {0} --metrics bleu", "--metrics is of no use with ready"),
        ("validate --scores {0} --human {0} --order 2", "--order is of no use with ready --scores"),
        ("validate --scores {0} --human {0} --select single", "--select is of no use with ready"),
        ("validate --scores {0} --human {0} --scale raw", "--scale is of no use with ready --hum"),
        ("validate --scores {0} --human {0} --min-raters 2", "--min-raters is of no use with "),
        ("validate --scores {0} --human {0} --unknown drop", "--unknown is of no use with ready "),
    ],
)
def test_what_ready_scores_do_not_heed_is_refused(options, said, run, tmp_path):
    table = tmp_path / "scores.csv"
    table.write_text("system,item,score\n" + "".join(f"{s},{i},{i}\n" for s in "AB" for i in "12"))
    result = run(*options.format(table).split())
    assert (result.code, result.out) == (2, "")
    assert said in result.err


def test_options_where_something_imported_pydantic(run):
    """Then the parser checks everything a second time, also what was not given."""
    pytest.importorskip("pydantic")
    for command in (["score"], ["compare"], ["explain", "--system", "human", "--worst", "1"]):
        result = run(*command, "examples/demo", "--order", "2", "--lowercase")
        assert (result.code, "validation" in result.err) == (0, False), result.err
