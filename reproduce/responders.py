"""Neural responders beside language models that never see the message, on held-out dialogues."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args
from zlib import crc32

import numpy as np

from deltableu.corpus import Item
from deltableu.io import fingerprint
from deltableu.neural import EncodedTexts, Vocabulary
from deltableu.respond import (
    Decoding,
    NeuralResponder,
    ResponderKind,
    ResponderModel,
    read_responder,
    responder_preset,
    train_responder,
    write_responder,
)
from deltableu.stats import bootstrap_sums, percentile_interval, stream
from reproduce.dialogue_logs import write_pairs
from reproduce.kneser_ney import END, fit_kneser_ney
from reproduce.layout import table
from reproduce.upsilon import MODELS

__all__ = ["Dialogue", "Foreseen", "section", "split_log"]

Array = np.ndarray[Any, np.dtype[np.float64]]
#: The number of what a vocabulary does not know.
UNKNOWN = 1
#: The turns of a dialogue.
Dialogue = list[str]

LOG = "self_dialogue"
#: One dialogue of so many is held out.
HELD_OUT = 40
#: Pairs per epoch, so that training takes minutes and the same ones on any machine.
EXAMPLES, EPOCHS = 8_000, 10
#: Pairs of the others by which the best epoch is chosen.
VALIDATION = 2_000
#: The last digits of a model depend on it.
THREADS = 1
SEED = 0
RESAMPLES, LEVEL = 1_000, 0.95
#: Held-out messages that are answered.
ANSWERED = 300
#: What the others are compared with.
TRIGRAMS = "Kneser-Ney trigrams, all responses"

ABOUT = """\
## Neural responders and a trigram model

Sequence to sequence with attention and VHRED (preset `small`; {examples:,} pairs in each of
{epochs} epochs: `deltableu respond train --examples {examples} --epochs {epochs} --patience
{epochs} --validation {validation} --threads {threads}`) learned from the self-dialogue corpus
(people who write both sides of a talk on films, music or sport) without one dialogue of
{held_out}. All that follows is about those: {dialogues:,} whole dialogues with {pairs:,} pairs.
The yard-sticks see responses alone: a trigram model with modified Kneser-Ney smoothing (Chen and
Goodman 1999) and the frequencies of words, one more than counted, learned from all {trained:,}
responses that the networks drew theirs from; and the trigram model from {drawn:,} of them, as
many as each network was shown. All foresee the same responses with the same {vocabulary:,} pieces
of words, cut after {longest}, and their ends: {tokens:,} in all, of which {unknown:,} are
unknown. *Per word* spreads the same loss over words cut at spaces, and ends. VHRED's loss is a
bound, so that its perplexity is at most this large (one draw of the posterior per response);
*divergence* is its part of the loss, per response. Intervals are over dialogues.
"""

#: Written by hand after a run; the tables below are what it speaks of.
FINDINGS = """\
What comes out: at this size and budget both networks lose clearly to trigrams that never see the
message. Per piece, sequence to sequence has 2.1 times the perplexity of trigrams of all responses,
and 1.6 times that of trigrams of as many responses as it was shown; VHRED at most 2.4 and 1.8
times. Each pair was shown once at most in an epoch, in 1,250 steps altogether, and held-out loss
still fell when training ended, while counting is done after one pass. Both are far better than
the frequencies of words (434). That VHRED's figure is the larger one does not say that it is worse:
the bound is 2.0 nats per response above the other loss, and the divergence alone is 1.1 of them.
That this is not near 0 says that the latent variable is used.

Answers by beam are bland: sequence to sequence says "What do you think?" to four messages in ten.
VHRED, whose latent variable is drawn for every answer, has three times as many different ones.
Drawn word by word, all answers differ, as people's do, and are shorter than theirs.
"""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """How well a model foresees held-out responses.

    Attributes
    ----------
    losses : array
        Minus the log-probability of all responses of each dialogue.
    divergence : float, optional
        Of VHRED's posterior from its prior, per response.
    """

    losses: Array
    divergence: float | None = None


def section(data: Path) -> str:
    """The section of docs/reproductions.md."""
    with tempfile.TemporaryDirectory() as folder:
        whole, learnt = Path(folder, "whole"), Path(folder, "learnt")
        whole.mkdir()
        learnt.mkdir()
        write_pairs(data, whole, [LOG])
        dialogues = split_log(whole / f"{LOG}.tsv", learnt / f"{LOG}.tsv")
        models = {kind: trained(learnt, MODELS, kind) for kind in get_args(ResponderKind)}
        responses = [row[1] for row in _rows(learnt / f"{LOG}.tsv")]
    return "\n".join(page(models, responses, dialogues))


def split_log(path: Path, learnt: Path) -> list[Dialogue]:
    """Write a log of pairs without the dialogues that are held out; these, turn by turn."""
    header, *lines = path.read_text("utf-8").removesuffix("\n").split("\n")
    kept = [header]
    held_out: dict[str, Dialogue] = {}
    for line in lines:
        utterance, response, _, thread = line.split("\t")
        if crc32(thread.encode()) % HELD_OUT:
            kept.append(line)
        else:
            turns = held_out.setdefault(thread, [utterance.replace("\\\\", "\\")])
            turns.append(response.replace("\\\\", "\\"))
    learnt.write_text("\n".join([*kept, ""]), "utf-8", newline="\n")
    return list(held_out.values())


def _rows(path: Path) -> Iterator[list[str]]:
    for line in path.read_text("utf-8").removesuffix("\n").split("\n")[1:]:
        yield [cell.replace("\\\\", "\\") for cell in line.split("\t")]


def trained(logs: Path, folder: Path, kind: ResponderKind) -> ResponderModel:
    """The model, which is trained only where its file is not there."""
    shape, how = responder_preset(kind)
    how = replace(
        how, examples=EXAMPLES, epochs=EPOCHS, patience=EPOCHS, validation=VALIDATION, seed=SEED
    )
    texts = [path.read_text("utf-8") for path in sorted(logs.iterdir())]
    name = fingerprint((f"{shape} {how} {THREADS}", *texts))
    path = folder / f"{kind}-{name}.safetensors"
    if path.exists():
        return read_responder(path)
    made = train_responder(str(logs), kind=kind, settings=shape, training=how, threads=THREADS)
    folder.mkdir(parents=True, exist_ok=True)
    return write_responder(path, made.settings, made.vocabulary, made.state, made.card)


def page(
    models: Mapping[str, ResponderModel], responses: Sequence[str], dialogues: Sequence[Dialogue]
) -> Iterator[str]:
    """The lines of the section."""
    first, *others = models.values()
    vocabulary, longest = first.vocabulary, first.settings.max_length
    for model in others:
        if model.vocabulary.to_bytes() != vocabulary.to_bytes():
            raise ValueError("the models differ in their vocabularies, which cannot be compared")
        if model.settings.max_length != longest:
            raise ValueError("the models cut texts at different lengths")
    learnt = vocabulary.encode(responses).cut(longest)
    held_out = [vocabulary.encode(turns[1:]).cut(longest) for turns in dialogues]
    drawn = np.sort(stream(SEED, 0).choice(len(learnt), EXAMPLES * EPOCHS, replace=False))
    tokens = np.array([len(one.numbers) + len(one) for one in held_out], np.float64)
    words = np.array([_words(vocabulary, one) + len(one) for one in held_out], np.float64)
    yield ABOUT.format(
        examples=EXAMPLES,
        epochs=EPOCHS,
        validation=VALIDATION,
        threads=THREADS,
        longest=longest,
        held_out=HELD_OUT,
        dialogues=len(dialogues),
        pairs=sum(map(len, held_out)),
        trained=len(learnt),
        drawn=len(drawn),
        vocabulary=len(vocabulary),
        tokens=int(tokens.sum()),
        unknown=sum(int((one.numbers == UNKNOWN).sum()) for one in held_out),
    )
    yield FINDINGS
    trigrams = fit_kneser_ney(learnt, len(vocabulary)).probabilities
    fewer = fit_kneser_ney(learnt.choose(drawn), len(vocabulary)).probabilities
    found = {
        "word frequencies": by_itself(word_frequencies(learnt, len(vocabulary)), held_out),
        f"Kneser-Ney trigrams, {len(drawn):,} responses": by_itself(fewer, held_out),
        TRIGRAMS: by_itself(trigrams, held_out),
        **{kind: by_network(NeuralResponder(model), dialogues) for kind, model in models.items()},
    }
    yield from perplexities(found, tokens, words)
    yield ""
    yield f"Of {ANSWERED} held-out messages, one per dialogue, how the answers differ:"
    yield ""
    yield from answers(models, dialogues)
    yield ""


def _words(vocabulary: Vocabulary, texts: EncodedTexts) -> int:
    known = (
        [number for number in texts[n].tolist() if number != UNKNOWN] for n in range(len(texts))
    )
    spelt = vocabulary.decode(list(known))
    return sum(len(text.split()) for text in spelt)


def word_frequencies(learnt: EncodedTexts, vocabulary: int) -> Callable[[EncodedTexts], Array]:
    """Probabilities of words and ends by how frequent they are, one more than counted."""

    def counted(texts: EncodedTexts) -> Array:
        counts = np.bincount(texts.numbers, minlength=vocabulary).astype(np.float64)
        counts[END] += len(texts)
        return counts

    counts = counted(learnt) + 1.0
    shares = counts / counts.sum()

    def probabilities(texts: EncodedTexts) -> Array:
        ends = np.full(len(texts), shares[END])
        return np.concatenate((shares[texts.numbers], ends))

    return probabilities


def by_itself(
    probabilities: Callable[[EncodedTexts], Array], held_out: Sequence[EncodedTexts]
) -> Foreseen:
    """What foresees responses without their messages."""
    return Foreseen(np.array([-np.log(probabilities(texts)).sum() for texts in held_out]))


def by_network(responder: NeuralResponder, dialogues: Sequence[Dialogue]) -> Foreseen:
    """Foresee each turn of a dialogue after those before it, as many as the network reads."""
    told = [
        responder.perplexity([(turns[:n], turns[n]) for n in range(1, len(turns))], seed=number)
        for number, turns in enumerate(dialogues)
    ]
    losses = np.array([one.loss * one.words for one in told])
    if not any(one.bound for one in told):
        return Foreseen(losses)
    divergences = sum(one.divergence * one.pairs for one in told)
    return Foreseen(losses, divergences / sum(one.pairs for one in told))


def perplexities(found: Mapping[str, Foreseen], tokens: Array, words: Array) -> list[str]:
    """A row per model; all are resampled together."""
    columns = np.column_stack([tokens, words, *(one.losses for one in found.values())])
    samples = bootstrap_sums(columns, RESAMPLES, SEED)
    sums = columns.sum(0)
    yardstick = 2 + list(found).index(TRIGRAMS)
    rows = []
    for place, (name, one) in enumerate(found.items(), start=2):
        apart = columns[:, place] - columns[:, yardstick]
        cells = [
            _perplexity(sums[place] / sums[0], samples[:, place] / samples[:, 0], 1),
            f"{np.exp(sums[place] / sums[1]):.1f}",
            "1",
            "-" if one.divergence is None else f"{one.divergence:.3f}",
        ]
        if apart.any():
            resampled = samples[:, place] - samples[:, yardstick]
            cells[2] = _perplexity(apart.sum() / sums[0], resampled / samples[:, 0], 3)
        rows.append([name, *cells])
    heading = ["model", "perplexity per piece", "per word", "times the trigrams'", "divergence"]
    return table(heading, rows)


def _perplexity(loss: float, resampled: Array, digits: int) -> str:
    low, high = percentile_interval(np.exp(resampled), LEVEL)
    return f"{np.exp(loss):.{digits}f} ({low:.{digits}f}, {high:.{digits}f})"


def answers(models: Mapping[str, ResponderModel], dialogues: Sequence[Dialogue]) -> list[str]:
    """How different and how long what models answer is, beside what people said."""
    chosen = [turns[: len(turns) // 2 + 1] for turns in dialogues[:ANSWERED]]
    items = [
        Item(str(number), (), tuple(turns[:-2]), turns[-2]) for number, turns in enumerate(chosen)
    ]
    rows = [["people", "-", *_variety([turns[-1] for turns in chosen])]]
    for kind, model in models.items():
        responder = NeuralResponder(model)
        for how in (Decoding(beam=5), Decoding(method="sample", seed=SEED)):
            texts = responder.respond(items, how, threads=THREADS).texts
            rows.append([kind, how.method, *_variety(texts)])
    heading = ["who", "decoding", "different", "the most frequent", "its share", "words per answer"]
    return table(heading, rows)


def _variety(texts: Sequence[str]) -> list[str]:
    counts = Counter(texts)
    most, number = min(counts.items(), key=lambda one: (-one[1], one[0]))
    words = sum(len(text.split()) for text in texts) / len(texts)
    frequent = (
        ["-", "-"] if number == 1 else [most.replace("|", r"\|"), f"{number / len(texts):.0%}"]
    )
    return [str(len(counts)), *frequent, f"{words:.1f}"]
