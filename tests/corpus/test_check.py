from __future__ import annotations

import json

import pytest

from deltableu.corpus import (
    Item,
    Rating,
    RatingTable,
    Reference,
    Study,
    System,
    check_study,
    write_study,
)


@pytest.fixture
def folder(tmp_path):
    items = (
        Item(
            "q1",
            (
                Reference("a", "Not much", 1.0),
                Reference("b", "what's up", -0.5, "parrot"),
                Reference("c", "the sky", 0.0, "mined"),
            ),
            ("hi",),
            "What's  up",
        ),
        Item("q2", (Reference("a", "no idea", None),), message="why?"),
        Item("q3", (Reference("a", "never", -1.0), Reference("b", "x", None, "written"))),
    )
    study = Study(
        items,
        {"echo": ("what's UP", "Why?", ""), "good": ("fine thanks", "no  idea", "one two three")},
        RatingTable.from_records(
            [
                Rating("ann", "q1", "system:echo", 1),
                Rating("bob", "q1", "reference:a", 5, criterion="relevance", kind="reference"),
            ]
        ),
        {"echo": System("echo", "rule"), "lost": System("lost", "neural")},
    )
    write_study(study, tmp_path / "study")
    return tmp_path / "study"


def texts(result):
    return [str(problem) for problem in result.problems]


def test_counts(folder):
    result = check_study(folder)
    assert (result.items, result.contexts, result.path) == (3, 1, folder)
    counts = result.references
    assert (counts.total, counts.least, counts.median, counts.most) == (6, 1, 2.0, 3)
    assert counts.by_origin == {"original": 3, "parrot": 1, "mined": 1, "written": 1}
    assert (counts.positive, counts.zero, counts.negative, counts.unrated) == (1, 1, 2, 2)
    assert counts.items_without_positive == 2
    echo, good = result.systems
    assert (echo.name, echo.type, echo.outputs, echo.empty, echo.mean_words) == (
        "echo",
        "rule",
        3,
        1,
        1.0,
    )
    assert (echo.matches.by_origin, echo.matches.messages) == ({"parrot": 1}, 2)
    assert (good.type, good.mean_words) == (None, 7 / 3)
    assert good.matches.by_origin == {"original": 1}
    ratings = result.ratings
    assert (ratings.rows, ratings.raters) == (2, 2)
    assert ratings.by_target == {"system": 1, "reference": 1}
    assert ratings.by_criterion == {"overall": 1, "relevance": 1}
    assert ratings.by_kind == {"item": 1, "reference": 1}
    assert (result.errors, result.warnings, result.unlisted) == (0, 4, 0)
    equal = "1 of 3 outputs equal a reference of origin"
    assert texts(result) == [
        f"{folder}/outputs/echo.jsonl: {equal} parrot of their item",
        f"{folder}/outputs/echo.jsonl: 2 of 3 outputs repeat the message they answer",
        f"{folder}/outputs/good.jsonl: {equal} original of their item",
        f"{folder}/systems.toml, systems.lost: the system has no outputs: add a file, or remove"
        " the entry",
    ]


def test_leaks_within_items(tmp_path):
    items = (
        Item("q1", (Reference("a", "x y", 1.0), Reference("b", "X  y", 0.5)), ("c",), "Hello"),
        Item("q2", (Reference("a", "hello"), Reference("b", " ", None)), ("C ",), "hello"),
        Item("q3", (Reference("a", "hello"),)),
        Item("q4", (Reference("a", "hello"),)),
    )
    write_study(Study(items), tmp_path / "s")
    result = check_study(tmp_path / "s")
    assert {problem.severity for problem in result.problems} == {"warning"}
    assert [(p.line, p.item, p.field) for p in result.problems] == [
        (1, "q1", "references[1]"),
        (2, "q2", "references[0]"),
        (2, "q2", "references[1]"),
        (2, "q2", None),
    ]
    assert result.problems[0].message == "the text is that of references[0], but the weight differs"
    assert "its origin is original" in result.problems[1].message
    assert "those of item 'q1' on line 1" in result.problems[3].message


def test_everything_wrong_is_said_at_once(folder):
    (folder / "items.jsonl").write_text(
        '{"id": "q1", "references": [{"id": "a", "text": "x", "weight": 7}]}\n'
        '{"id": "q2", "references": ["y"]}\n'
    )
    (folder / "outputs" / "echo.jsonl").write_text('{"id": "q9", "text": "x"}\n')
    (folder / "outputs" / "good.jsonl").unlink()
    (folder / "ratings.csv").write_text(
        "rater,item,target,value\n"
        "ann,q7,system:echo,1\nann,q2,system:none,1\nann,q2,reference:z,1\nann,q2,system:echo,x\n"
        "ann,q1,reference:zz,1\n"
    )
    (folder / "systems.toml").write_text("[systems\n")
    result = check_study(folder)
    assert [(p.file and p.file.rpartition("/")[2], p.line, p.field) for p in result.problems] == [
        ("items.jsonl", 1, "references[0].weight"),
        ("systems.toml", 1, None),
        ("echo.jsonl", 1, "id"),
        ("echo.jsonl", None, None),
        ("ratings.csv", 2, "item"),
        ("ratings.csv", 3, "target"),
        ("ratings.csv", 4, "target"),
        ("ratings.csv", 5, "value"),
    ]
    assert result.errors == 8


def test_bad_references_need_not_be_known(folder):
    (folder / "ratings.csv").write_text(
        "rater,item,target,value,kind\nann,q1,reference:zzz,1,bad-reference\n"
    )
    assert check_study(folder).errors == 0


def test_broken_items_do_not_make_everything_else_wrong(folder):
    lines = (folder / "items.jsonl").read_text().splitlines()
    (folder / "items.jsonl").write_text("\n".join(["{", *lines[1:]]))
    result = check_study(folder)
    assert result.errors == 1
    assert any("not matched" in text for text in texts(result))


def test_many_of_a_sort_are_counted_not_listed(folder):
    with open(folder / "ratings.csv", "a") as stream:
        for number in range(100):
            stream.write(f"ann,no{number},system:echo,overall,1,,,,,,\n")
    result = check_study(folder, most=5)
    assert sum("there is no item" in text for text in texts(result)) == 5
    assert (result.errors, result.unlisted) == (100, 95)


def test_no_study_at_all(tmp_path):
    result = check_study(tmp_path / "none")
    assert texts(result) == [f"{tmp_path}/none: there is no such folder"]
    assert (result.items, result.references.total, result.ratings.rows) == (0, 0, 0)
    (tmp_path / "items.jsonl").write_text("")
    assert texts(check_study(tmp_path)) == [f"{tmp_path}/items.jsonl: holds no items"]


def test_unrated_study_has_no_items_without_positive(tmp_path):
    (tmp_path / "items.jsonl").write_text(json.dumps({"id": 1, "references": ["a"]}))
    assert check_study(tmp_path).references.items_without_positive == 0


def test_plain_study(tmp_path):
    (tmp_path / "r0.txt").write_text("a\nb\n")
    (tmp_path / "weights.tsv").write_text("1\nx\n")
    result = check_study(tmp_path)
    assert (result.items, result.errors) == (1, 1)
