"""How words are spelt, beside their hashes."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from deltableu.text.buffer import join_texts
from deltableu.text.words import hash_words, word_form, word_spans

TEXTS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"])) | st.text("aB'’ʼ é你😀Ⓐ.-İΣ"), min_size=1
)


def arguments(texts):
    buffer = join_texts(texts)
    return buffer.data, buffer.bounds[:-1], buffer.bounds[1:] - 1


@given(TEXTS)
@example(["'Rock 'n’ ROLL'", "", "don’t", "你好A", "😀😀"])
def test_forms_hash_to_what_their_words_hash_to(texts):
    data, starts, ends = arguments(texts)
    found = hash_words(data, starts, ends)
    begins, stops = word_spans(data, starts, ends)
    assert len(begins) == len(stops) == len(found.hashes)
    forms = [word_form(data[a:b].decode()) for a, b in zip(begins, stops, strict=True)]
    if forms:
        again = hash_words(*arguments(forms))
        assert again.bounds.tolist() == list(range(len(forms) + 1))
        assert again.hashes.tolist() == found.hashes.tolist()
        assert [word_form(form) for form in forms] == forms


def test_spans_lie_in_their_texts():
    data, starts, ends = arguments(["It's  ok!", "...", "'no'"])
    begins, stops = word_spans(data, starts, ends)
    assert [data[a:b] for a, b in zip(begins, stops, strict=True)] == [b"It's", b"ok", b"no"]
