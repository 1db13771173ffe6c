"""delta-BLEU beside sacreBLEU's BLEU: speed, growth, memory, one hypothesis at a time."""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import time
import timeit

import sacrebleu

import deltableu
from bench.corpora import Corpus, zipf_corpus
from bench.timing import best_of

__all__ = ["main"]


def against_sacrebleu(corpus: Corpus, tokenize: str) -> None:
    """From Python lists to score, nothing cached, references prepared for sacreBLEU's layout."""
    streams = [list(stream) for stream in zip(*corpus.references, strict=True)]

    def peer() -> object:
        # A new metric each time: its tokenizer caches results between calls.
        from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
        from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

        for tokenizer in (Tokenizer13a, TokenizerRegexp):
            tokenizer.__call__.cache_clear()
        metric = sacrebleu.BLEU(tokenize=tokenize, max_ngram_order=2)
        return metric.corpus_score(corpus.hypotheses, streams)

    theirs = best_of(peer)
    for threads in (1, 2):
        ours = best_of(
            lambda threads=threads: deltableu.delta_bleu(  # type: ignore[misc]
                corpus.hypotheses,
                corpus.references,
                corpus.weights,
                tokenize=tokenize,
                threads=threads,
            )
        )
        print(
            f"  {tokenize:4}  {threads} thread{'s' if threads > 1 else ' '}  "
            f"delta-BLEU {ours:6.3f} s   sacreBLEU {theirs:6.2f} s   ratio {theirs / ours:5.0f}x"
        )


def second_system(corpus: Corpus, tokenize: str) -> None:
    """What another system costs once the references are encoded."""
    metric = deltableu.DeltaBLEU(tokenize=tokenize)
    first = best_of(
        lambda: metric.statistics(
            corpus.hypotheses,
            metric.encode(corpus.references, corpus.weights, threads=1),
            threads=1,
        ).score()
    )
    encoded = metric.encode(corpus.references, corpus.weights)
    second = best_of(lambda: metric.statistics(corpus.hypotheses, encoded, threads=1).score())
    print(
        f"  {tokenize:4}  first {first:6.3f} s   second {second:6.3f} s   "
        f"ratio {first / second:5.1f}x"
    )


def one_hypothesis(corpus: Corpus) -> None:
    """`metric.statistics([hypothesis], encoded).score()`, as a reward or a reranker calls it."""
    metric = deltableu.DeltaBLEU()
    encoded = metric.encode(corpus.references[:1], corpus.weights[:1])
    hypothesis = corpus.hypotheses[:1]
    number = 2000
    seconds = min(
        timeit.repeat(
            lambda: metric.statistics(hypothesis, encoded).score(), number=number, repeat=5
        )
    )
    print(f"  {1e6 * seconds / number:.0f} microseconds")


def growth() -> None:
    """Cost and peak memory up to a million segments with 4 references, in a process each."""
    rates = {}
    for items in (10_000, 100_000, 1_000_000):
        result = subprocess.run(
            [sys.executable, "-m", "bench.score_speed", str(items)],
            capture_output=True,
            text=True,
            check=True,
        )
        seconds, loaded, peak, size = map(float, result.stdout.split())
        rates[items] = items / seconds
        print(
            f"  {items:9,} segments  {seconds:6.2f} s  {items / seconds:9,.0f} segments/s   "
            f"memory {peak - loaded:6.0f} MB above the lists, {(peak - loaded) / size:4.1f}x "
            f"the text ({size:.0f} MB)"
        )
    print(f"  rate at 1,000,000 against 100,000: {rates[1_000_000] / rates[100_000]:.2f}")


def measure_once(items: int) -> None:
    """For `growth`: seconds, megabytes with the lists loaded, at the peak, and of the text."""
    # The kernels and their libraries are loaded before memory is counted.
    deltableu.delta_bleu(["a b"], [["a b"]], [[1.0]])
    corpus = zipf_corpus(items, 4)
    gc.collect()
    loaded = _resident()
    _reset_peak()
    start = time.perf_counter()
    deltableu.delta_bleu(corpus.hypotheses, corpus.references, corpus.weights)
    seconds = time.perf_counter() - start
    print(seconds, loaded, _peak(), corpus.megabytes)


def _status(field: str) -> float:
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _resident() -> float:
    return _status("VmRSS:")


def _peak() -> float:
    return _status("VmHWM:")


def _reset_peak() -> None:
    """Forget the peak that building the lists reached (Linux)."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def main() -> None:
    corpus = zipf_corpus(20_000, 16)
    print(f"20,000 segments x 16 references, order 2 ({corpus.megabytes:.0f} MB), best of 3")
    print("\nlists to score, against sacreBLEU's BLEU")
    for tokenize in ("none", "13a"):
        against_sacrebleu(corpus, tokenize)
    print("\nanother system, references encoded (1 thread)")
    for tokenize in ("none", "13a"):
        second_system(corpus, tokenize)
    print("\none hypothesis, 16 encoded references")
    one_hypothesis(corpus)
    del corpus
    print("\ngrowth, 4 references per segment, 13a")
    growth()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure_once(int(sys.argv[1]))
    else:
        main()
