"""What is written is what is read, whatever the texts hold."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deltableu.corpus import (
    KINDS,
    ORIGINS,
    Item,
    Rating,
    RatingTable,
    Reference,
    Source,
    Study,
    System,
    read_items,
    read_outputs,
    read_plain,
    read_ratings,
    read_study,
    read_systems,
    write_items,
    write_outputs,
    write_plain,
    write_ratings,
    write_study,
    write_systems,
)

ODD = st.sampled_from("\t\n\r\\\"',;\x00\x0b\x0c\x1c\x1e\x85\u2028\u2029\ufeff[]{}#e tn")
CHARACTER = st.one_of(ODD, st.characters(exclude_categories=["Cs"]))
TEXT = st.text(CHARACTER, max_size=8)
NAME = st.text(CHARACTER, min_size=1, max_size=5)
WEIGHT = st.none() | st.floats(-1, 1)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
SOURCE = st.builds(
    Source,
    st.none() | TEXT,
    st.none() | NAME,
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.none() | st.integers(-(2**63), 2**63 - 1),
).filter(lambda source: source != Source())
REFERENCE = st.builds(Reference, NAME, TEXT, WEIGHT, st.sampled_from(ORIGINS), st.none() | SOURCE)
ITEM = st.builds(
    Item,
    NAME,
    st.lists(REFERENCE, min_size=1, max_size=3, unique_by=lambda one: one.id).map(tuple),
    st.lists(TEXT, max_size=2).map(tuple),
    st.none() | TEXT,
    st.dictionaries(TEXT, JSON, max_size=2),
)
ITEMS = st.lists(ITEM, max_size=3, unique_by=lambda item: item.id)
SCALED = st.sampled_from([("1-5", 4.0), ("0-100", 33.3), ("-1-1", -0.25), (None, 1e300)])
RATING = st.builds(
    lambda rater, item, sort, name, scaled, **others: Rating(
        rater, item, f"{sort}:{name}", scaled[1], scale=scaled[0], **others
    ),
    NAME,
    NAME,
    st.sampled_from(["system", "reference"]),
    NAME,
    SCALED,
    criterion=NAME,
    kind=st.sampled_from(KINDS),
    pair=st.none() | NAME,
    position=st.none() | st.integers(-(2**63), 2**63 - 1),
    started=st.none() | NAME,
    finished=st.none() | NAME,
)

many = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
few = settings(many, max_examples=20)


@pytest.mark.parametrize("name", ["i.jsonl", "i.jsonl.gz", "i.tsv", "i.tsv.gz", "i.parquet"])
@many
@given(items=ITEMS)
def test_items(tmp_path: Path, name: str, items: list[Item]):
    write_items(tmp_path / name, items)
    assert list(read_items(tmp_path / name)) == items


@pytest.mark.parametrize("name", ["r.csv", "r.csv.gz", "r.tsv", "r.jsonl", "r.parquet"])
@many
@given(ratings=st.lists(RATING, max_size=4))
def test_ratings(tmp_path: Path, name: str, ratings: list[Rating]):
    write_ratings(tmp_path / name, ratings)
    assert list(read_ratings(tmp_path / name)) == ratings


@pytest.mark.parametrize("name", ["s.jsonl", "s.tsv", "s.parquet", "s.txt", "s.txt.gz"])
@many
@given(outputs=st.dictionaries(NAME, TEXT, max_size=4))
def test_outputs(tmp_path: Path, name: str, outputs: dict[str, str]):
    texts = tuple(outputs.values())
    if ".txt" in name:
        texts = tuple(text.replace("\n", " ").rstrip("\r") for text in texts)
    write_outputs(tmp_path / name, tuple(outputs), texts)
    assert read_outputs(tmp_path / name, tuple(outputs)) == texts


@many
@given(
    names=st.lists(NAME, unique=True, max_size=3),
    texts=st.tuples(st.none() | TEXT, st.none() | TEXT),
)
def test_systems(tmp_path: Path, names: list[str], texts: tuple[str | None, str | None]):
    systems = {name: System(name, *texts) for name in names}
    write_systems(tmp_path / "systems.toml", systems)
    assert read_systems(tmp_path / "systems.toml") == systems


LINE = TEXT.filter(lambda text: text.strip() and "\n" not in text and not text.endswith("\r"))


@st.composite
def plain_items(draw: st.DrawFn) -> tuple[Item, ...]:
    rated = draw(st.booleans())
    weight = st.floats(-1, 1) if rated else st.none()
    items = []
    for number in range(1, draw(st.integers(1, 3)) + 1):
        streams = draw(st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True))
        items.append(
            Item(
                str(number),
                tuple(
                    Reference(
                        f"r{i}", draw(LINE), draw(weight), "original" if i == 0 else "written"
                    )
                    for i in sorted(streams)
                ),
            )
        )
    return tuple(items)


@many
@given(items=plain_items())
def test_plain_text(tmp_path: Path, items: tuple[Item, ...]):
    folder = tmp_path / "plain"
    shutil.rmtree(folder, ignore_errors=True)
    write_plain(folder, items)
    weights = folder / "weights.tsv"
    streams = sorted(folder.glob("r*.txt"))
    assert read_plain(streams, weights if weights.exists() else None) == items
    write_study(Study(items), folder, "plain", replace=True)
    assert read_study(folder).items == items


@pytest.mark.parametrize("form", ["jsonl", "tsv", "parquet"])
@few
@given(
    items=ITEMS.filter(bool),
    ratings=st.lists(RATING, max_size=2).map(RatingTable.from_records),
    output=TEXT,
    systems=st.booleans(),
)
def test_study(
    tmp_path: Path,
    form: str,
    items: list[Item],
    ratings: RatingTable,
    output: str,
    systems: bool,
):
    folder = tmp_path / "study"
    study = Study(
        tuple(items),
        {name: tuple(output for _ in items) for name in ("a", "b.txt", "ü ö")},
        ratings,
        {"a": System("a", "neural")} if systems else {},
        folder,
    )
    write_study(study, folder, form, replace=True)
    assert read_study(folder) == study
    assert len(read_study(folder, ratings=False).ratings) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["study"]
