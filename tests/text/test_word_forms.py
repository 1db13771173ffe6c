"""How words are spelt, beside their hashes."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from deltableu.text import Texts, WordRule, word_form

TEXTS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"])) | st.text("aB'’ʼ é你😀Ⓐ.-İΣ"), min_size=1
)


RULE = WordRule()


@given(TEXTS)
@example(["'Rock 'n’ ROLL'", "", "don’t", "你好A", "😀😀"])
def test_forms_hash_to_what_their_words_hash_to(texts):
    joined = Texts.of(texts)
    found, spans = RULE.spans(joined)
    assert found.keys.tolist() == RULE.hash(joined).keys.tolist()
    assert len(spans) == len(found.keys)
    forms = [word_form(word) for word in spans.strings()]
    assert forms == [word for words in RULE.spelt(joined) for word in words]
    if forms:
        again = RULE.hash(Texts.of(forms))
        assert RULE.hash_each(Texts.of(forms)).tolist() == found.keys.tolist()
        assert again.bounds.tolist() == list(range(len(forms) + 1))
        assert again.keys.tolist() == found.keys.tolist()
        assert [word_form(form) for form in forms] == forms


def test_spans_lie_in_their_texts():
    _, spans = RULE.spans(Texts.of(["It's  ok!", "...", "'no'"]))
    assert spans.strings() == ["It's", "ok", "no"]
