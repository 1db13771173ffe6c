"""What an LLM answers becomes a number on the scale, or nothing; wrong rubrics are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.judges import llm
from deltableu.judges.llm import AnswerError, AnswerForm, default_rubric, read_rubric
from deltableu.judges.llm.rubric import filled
from tests.docs.pages import ROOT

FORM = AnswerForm("1-5")
PAIR = AnswerForm("0-1", compares=True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"reason": "fits", "rating": 4}', 4.0),
        ('```json\n{"rating": 2}\n```', 2.0),
        ('Here it is:\n```\n{"rating": 2}\n```\nI hope this helps.', 2.0),
        ('Sure! {"rating": 5} That is all.', 5.0),
        ('<think>{"rating": 1}, or perhaps 3</think>\n{"rating": 5}', 5.0),
        ('{"rating": "3"}', 3.0),
        ('{"rating": 3.0}', 3.0),
        (" 4 ", 4.0),
        ("Rating: 4", 4.0),
        ("**Rating:** 4", 4.0),
        ("Rating: 4.", 4.0),
    ],
)
def test_answers(text, value):
    assert FORM.parse(text) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("<think>4</think>", "empty"),
        ("I cannot help with that.", "no JSON object"),
        ('{"rating": 6}', "between 1 and 5, got 6"),
        ("7", "between 1 and 5"),
        ("-3", "between 1 and 5"),
        ('{"rating": 3.5}', "whole number"),
        ('{"rating": true}', "must be a number"),
        ('{"rating": null}', "must be a number"),
        ('{"rating": NaN}', "can be read"),
        ('{"rating": 1e999}', "can be read"),
        ('{"rating": 1, "rating": 5}', "can be read"),
        ('{"rating": 1} or {"rating": 5}', "can be read"),
        ('```\n{"rating": 1}\n```\n```\n{"rating": 5}\n```', "more than one"),
        ('{"score": 4}', 'no "rating"'),
        ("between 3 and 4", "no JSON object"),
        ("4 or 5", "no JSON object"),
        ("[4]", "no JSON object"),
        ('{"rating": 4', "no JSON object"),
    ],
)
def test_what_is_no_answer(text, problem):
    with pytest.raises(AnswerError, match=problem):
        FORM.parse(text)


def test_comparisons():
    assert [PAIR.parse(f'{{"preferred": "{name}"}}') for name in ("first", "Second")] == [1.0, 0.0]
    assert PAIR.parse("neither") == 0.5
    for text in (
        '{"preferred": "both"}',
        '{"preferred": 1}',
        '{"rating": 1}',
        "the first one",
        "1",
    ):
        with pytest.raises(AnswerError):
            PAIR.parse(text)
    with pytest.raises(AnswerError):
        AnswerForm("0-1", compares=True, ties=False).parse("neither")


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
_texts = st.one_of(
    st.text(),
    st.builds(
        json.dumps, st.dictionaries(st.sampled_from(["rating", "preferred", "reason"]), _json)
    ),
    st.text(alphabet='{}[]":,.0123456789-eEratingsfscond `\n<>/think'),
)


@given(_texts, st.sampled_from(["1-5", "0-100", "-1-1", "0-10"]), st.booleans())
def test_any_text_is_a_number_on_the_scale_or_nothing(text, scale, whole):
    for form in (AnswerForm(scale, whole), PAIR):
        try:
            value = form.parse(text)
        except AnswerError:
            continue
        low, high = {"1-5": (1, 5), "0-100": (0, 100), "-1-1": (-1, 1), "0-10": (0, 10)}[scale]
        if form is PAIR:
            assert value in (0.0, 0.5, 1.0)
        else:
            assert low <= value <= high
            assert not whole or value == int(value)


@given(st.integers(1, 5), st.text(max_size=20), st.booleans(), st.booleans())
def test_what_was_asked_for_is_read(rating, reason, fenced, indented):
    text = json.dumps({"reason": reason, "rating": rating}, indent=2 if indented else None)
    assert FORM.parse(f"```json\n{text}\n```" if fenced and "`" not in reason else text) == rating


def test_what_a_text_holds_is_not_filled_in():
    made = filled(
        "{message}\n\n{response}\n\n{low}", {"message": "", "response": "{low} {x}", "low": "1"}
    )
    assert made == "{low} {x}\n\n1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('critrion = "x"', "critrion: is no field of a rubric.*did you mean 'criterion'"),
        ('scale = "five"', "scale: a scale is written LOW-HIGH"),
        ('scale = "0-0.5"', "scale: has ends that are not whole"),
        ('whole = "yes"', "whole: must be true or false"),
        ('prompt = "Rate it."', "prompt: must hold {response}"),
        ('prompt = "{response} {answr}"', "prompt: holds {answr}"),
        ('instructions = "{response}"', "instructions: holds {response}"),
        ("criterion = 3", "criterion: must be a text"),
        ("ties = true", "ties: is of no use"),
        ("scale = ", "is not valid TOML"),
    ],
)
def test_a_wrong_rubric_is_told_with_file_and_field(tmp_path, text, said):
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=f"own.toml.*{said}"):
        read_rubric(path, "outputs")


def test_a_rubric_of_ones_own(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text('criterion = "fluency"\nscale = "0-100"\nprompt = "{response}"')
    rubric = read_rubric(path, "outputs")
    assert (rubric.criterion, rubric.scale) == ("fluency", "0-100")
    assert rubric.instructions == default_rubric("outputs").instructions
    assert rubric.fingerprint != default_rubric("outputs").fingerprint
    words = tmp_path / "own.txt"
    words.write_text("Be strict: {high} is for the best.\n")
    assert read_rubric(words, "pairs").instructions == "Be strict: {high} is for the best."
    with pytest.raises(InputError, match=r"ends in \.toml, \.txt or \.md"):
        read_rubric(tmp_path / "own.json", "pairs")
    with pytest.raises(InputError, match=r"nothing\.toml"):
        read_rubric(tmp_path / "nothing.toml", "pairs")


@pytest.mark.parametrize("what", ["references", "outputs", "pairs"])
def test_the_page_shows_the_rubrics_as_they_are(what):
    page = (ROOT / "docs" / "how-to" / "llm-judge.md").read_text(encoding="utf-8")
    rubric = Path(llm.__file__).with_name(f"{what}.toml").read_text(encoding="utf-8")
    assert f"```toml\n{rubric}```" in page
