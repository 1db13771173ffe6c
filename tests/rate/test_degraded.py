"""Degraded copies against the published rules, word for word."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.rate.degraded import PhrasePool, TextUnits

few = settings(max_examples=60, deadline=None)


def published(n: int) -> list[tuple[int, int]]:
    """Where a text of n words may be cut out, from the rules as they are printed."""
    if n == 1:
        return [(0, 1)]
    if n == 2:  # keeps the first word
        return [(1, 2)]
    if n == 3:  # keeps the first and the last
        return [(1, 2)]
    if n == 4:
        return [(1, 3)]
    rem = 2 if n == 5 else 3 if n <= 7 else 4 if n <= 14 else 5 if n <= 19 else n // 4
    return [(start, start + rem) for start in range(1, n - rem - 2 + 1)]


def words(letter: str, count: int) -> list[str]:
    return [f"{letter}{number}" for number in range(count)]


def cut_of(made: list[str], text: list[str]) -> tuple[int, int]:
    """Which words of the text are gone."""
    kept = [word for word in made if word in text]
    gone = [place for place, word in enumerate(text) if word not in kept]
    assert gone == list(range(gone[0], gone[-1] + 1))
    return gone[0], gone[-1] + 1


@few
@given(st.integers(1, 60), st.integers(0, 10_000))
def test_words_are_replaced_by_the_published_rules(n, seed):
    text, donor = words("a", n), words("b", 30)
    made = PhrasePool([" ".join(text), " ".join(donor)]).degrade(0, rng=seed).split()
    first, last = cut_of(made, text)
    assert (first, last) in published(n)
    phrase = [word for word in made if word not in text]
    assert made == [*text[:first], *phrase, *text[last:]]
    # As many as were there, but never more than six; from inside the other text, in its order.
    assert len(phrase) == min(last - first, 6)
    start = donor.index(phrase[0])
    assert phrase == donor[start : start + len(phrase)]
    assert start >= 1
    assert start + len(phrase) <= len(donor) - 1


def test_every_place_is_as_likely():
    text = words("a", 16)
    pool = PhrasePool([" ".join(text), " ".join(words("b", 30))])
    counts: dict[tuple[int, int], int] = {}
    for seed in range(900):
        cut = cut_of(pool.degrade(0, rng=seed).split(), text)
        counts[cut] = counts.get(cut, 0) + 1
    assert set(counts) == set(published(16))
    expected = 900 / len(counts)
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 26  # p .001


def test_phrases_come_from_other_items():
    texts = ["one two three four five", "six seven eight nine ten", "x1 x2 x3 x4 x5"]
    pool = PhrasePool(texts, ["q1", "q1", "q2"])
    for seed in range(30):
        assert set(pool.degrade(0, rng=seed).split()) & set(texts[2].split())
        assert not set(pool.degrade(0, rng=seed).split()) & set(texts[1].split())
    assert PhrasePool(texts[:2], ["q1", "q1"]).degrade(0) is None


def test_the_phrase_is_another_one():
    """Where others say the same, what is left is taken, if there is anything."""
    pool = PhrasePool(["a Rome c", "b rome d", "b rome d", "w paris z"])
    assert {pool.degrade(0, rng=seed) for seed in range(40)} == {"a paris c"}
    assert PhrasePool(["a b c", "a b c"]).degrade(0) in ("a a c", "a c c")  # ends, at last
    assert PhrasePool(["yes", "Yes"]).degrade(0) is None


def test_shorter_phrases_do_where_there_are_no_longer_ones():
    made = PhrasePool([" ".join(words("a", 40)), "b0 b1 b2"]).degrade(0)
    assert len(made.split()) == 40 - 10 + 3


def test_space_and_capitals_stay():
    pool = PhrasePool(["so  it\nis , my  dear\tfriend", "b0 b1 b2 b3 b4 b5"])
    made = pool.degrade(0, rng=0)
    assert made.startswith("so  ")
    assert made.endswith("dear\tfriend")
    pool = PhrasePool(["Yes", "no", "not at all", "\U0001f44d"])
    assert pool.degrade(0) in ("At", "No", "Not", "All", "\U0001f44d")
    assert pool.degrade(1) in ("at", "Yes", "not", "all", "\U0001f44d")


def test_scripts_without_spaces_are_cut_into_characters():
    one, other = "今天天气很好,我们去公园散步吧。", "他昨天买了一本新书,非常喜欢。"
    for seed in range(20):
        made = PhrasePool([one, other]).degrade(0, rng=seed)
        assert any(
            made == one[:first] + made[first:last] + one[last:] and made[first:last] in other[1:-1]
            for first, last in published(16)
        )
    # A Chinese text gets no English words, and the other way round.
    assert PhrasePool([one, "the cat sat on the mat"]).degrade(0) is None
    assert PhrasePool(["the cat sat on the mat", one]).degrade(0) is None


def test_marks_stay_with_their_letters():
    thai = TextUnits.of("ผมชื่อสมชาย")
    assert thai.unit == "characters"
    assert "ชื่" in thai.pieces
    assert "".join(thai.pieces) == "ผมชื่อสมชาย"
    mixed = TextUnits.of("我们用 Linux 了")
    assert mixed.pieces == ("我", "们", "用 ", "Linux ", "了")
    assert TextUnits.of("नमस्ते दुनिया").unit == "words"
    assert TextUnits.of("the word 犬 means dog").unit == "words"


@few
@given(
    st.lists(st.text("aB 1,今的。ื\u200d\n\t", max_size=30), min_size=1, max_size=5),
    st.integers(0, 99),
)
def test_any_text_is_degraded_or_not_and_always_in_the_same_way(texts, seed):
    pool = PhrasePool(texts)
    for place, text in enumerate(texts):
        assert "".join(TextUnits.of(text).pieces) == text.strip()
        made = pool.degrade(place, rng=seed)
        assert made == pool.degrade(place, rng=seed)
        assert made is None or (made and made != text.strip())
