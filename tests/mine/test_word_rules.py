"""Words of languages that are written without spaces, by tokenizers of sacreBLEU."""

from __future__ import annotations

import numpy as np
import pytest

from deltableu.corpus import Item, Reference
from deltableu.errors import InputError
from deltableu.mine import BM25, Embedding, MiningPlan, RowFilter, WordAverages, mine_references
from deltableu.text import Texts, WordRule, WordVectors, read_vectors, write_vectors
from deltableu.text.peers import peer_tokenizer
from deltableu.vectors import train_vectors

#: 京都 is a town, and also the last two of the three characters of 東京都, which is another.
TOWNS = [
    ("東京都東京都東京都", "人が多いです"),
    ("昨日は京都へ旅行に行きました", "お寺がきれいでした"),
    ("猫が好きです", "私もです"),
]
KYOTO = Item("1", (Reference("a", "はい"),), message="京都")


def responses(item, logs, tokenize, **settings):
    plan = MiningPlan(BM25("utterance"), tokenize=tokenize, **settings)
    found = mine_references([item], logs, plan=plan)
    return [one.text for one in found.study.items[0].references[1:]]


def test_japanese_by_mecab():
    assert responses(KYOTO, TOWNS, "words")[0] == "人が多いです"
    assert responses(KYOTO, TOWNS, "ja-mecab") == ["お寺がきれいでした"]
    assert responses(KYOTO, TOWNS, "none") == []


def test_chinese_by_zh():
    logs = [("你今天吃饭了吗？", "吃过了。"), ("明天下雨", "带伞吧。")]
    item = Item("1", (Reference("a", "还没有。"),), message="吃饭吗")
    assert responses(item, logs, "zh") == ["吃过了。"]
    # Between spaces, the whole question is one word.
    assert responses(item, logs, "none") == []


def test_lengths_and_diversity_count_the_same_words():
    logs = [("東京", "東京都です"), ("東京", "東京へ行きたいです")]
    item = Item("1", (Reference("a", "はい"),), message="東京")
    assert WordRule("ja-mecab").spelt(Texts.of(["東京都です"])) == [["東京", "都", "です"]]
    assert responses(item, logs, "ja-mecab", rows=RowFilter(max_words=3)) == ["東京都です"]
    assert responses(item, logs, "words", rows=RowFilter(max_words=3)) == []
    assert len(responses(item, logs, "ja-mecab", diversity=0.5)) == 2


def test_links_are_found_whatever_a_word_is():
    logs = [("so what", "see http://x.org"), ("so what", "nothing")]
    item = Item("1", (Reference("a", "x"),), message="so what")
    for tokenize in ("words", "13a", "none", "char"):
        assert responses(item, logs, tokenize) == ["nothing"]


def test_case_and_punctuation_do_not_matter():
    texts = Texts.of(["Hello, WORLD !", "It’s", "..."])
    for tokenize in ("13a", "intl", "zh"):
        assert WordRule(tokenize).spelt(texts)[0] == ["hello", "world"]
        assert WordRule(tokenize).spelt(texts)[2] == []
        hashed = WordRule(tokenize).hash(texts)
        assert hashed.keys[:2].tolist() == WordRule().hash(texts).keys[:2].tolist()


def test_plans_of_other_words_are_other_plans():
    assert "tokenize" not in MiningPlan().signature
    assert "|tokenize:zh|" in MiningPlan(tokenize="zh").signature


def test_vectors_know_their_words(tmp_path):
    vectors = train_vectors(TOWNS, dimension=4, min_count=1, epochs=2, tokenize="ja-mecab")
    assert "京都" in vectors.rows
    assert "京" not in vectors.rows
    for name in ("v.txt", "v.bin", "v.txt.gz"):
        write_vectors(vectors, tmp_path / name)
        again = read_vectors(tmp_path / name)
        assert again.tokenize == "ja-mecab"
        assert list(again.rows) == list(vectors.rows)
    source = WordAverages(again)
    assert source.tokenize == "ja-mecab"
    assert source.vectors(Texts.of(["京都"])).any()
    MiningPlan(Embedding(source), tokenize="ja-mecab")
    with pytest.raises(InputError, match=r"by the rule 'ja-mecab'.*use tokenize='ja-mecab'"):
        WordAverages(again, tokenize="words")
    with pytest.raises(InputError, match="by the rule 'ja-mecab', but tokenize is 'words'"):
        MiningPlan(Embedding(source))


def test_averages_of_words_by_mecab():
    words = ("京都", "東京", "都", "京")
    vectors = WordVectors(dict(zip(words, range(4), strict=True)), np.eye(4), "ja-mecab")
    plan = MiningPlan(Embedding(WordAverages(vectors)), tokenize="ja-mecab")
    found = mine_references([KYOTO], TOWNS, plan=plan)
    assert [one.text for one in found.study.items[0].references[1:]] == ["お寺がきれいでした"]


def test_files_of_default_words_have_no_note(tmp_path):
    write_vectors(train_vectors([("a b", "a b")], min_count=1, epochs=1), tmp_path / "v.txt")
    assert "tokenize" not in (tmp_path / "v.txt").read_text()
    assert read_vectors(tmp_path / "v.txt").tokenize is None


def test_what_is_missing_is_one_sentence(monkeypatch):
    def lacking(name):
        raise ImportError(name)

    peer_tokenizer.cache_clear()
    monkeypatch.setattr("deltableu.text.peers.import_module", lacking)
    with pytest.raises(InputError, match=r"'ja-mecab' needs .*: pip install 'deltableu\[ja\]'$"):
        mine_references([KYOTO], TOWNS, plan=MiningPlan(tokenize="ja-mecab"))
    peer_tokenizer.cache_clear()


def test_unknown_rules():
    with pytest.raises(InputError, match="tokenize must be one of words, none, 13a"):
        MiningPlan(tokenize="mecab")
