"""`deltableu vectors`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

from deltableu.cli.log_inputs import local_logs
from deltableu.cli.long_run import says_where_it_goes_on, work_folder
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Output, Positive, Whole, subcommands
from deltableu.cli.output import Format, emit, note
from deltableu.cli.progress import ProgressBar
from deltableu.errors import InputError
from deltableu.io import Column, Own, Table, check_new_file, fact_table, parse_size
from deltableu.text import read_vectors, write_vectors
from deltableu.vectors import VectorEpoch, nearest_words, train_vectors

vectors = subcommands("vectors", "Train word vectors on logs, and look at them.")


@vectors.command
@grouped
def train(
    *logs: str,
    output: Annotated[Path, Output],
    dimension: Whole = 100,
    window: Whole = 15,
    min_count: Whole = 5,
    max_vocabulary: Whole | None = None,
    x_max: float = 100.0,
    alpha: float = 0.75,
    learning_rate: float = 0.05,
    epochs: Whole = 25,
    seed: Whole = 0,
    tokenize: str = "words",
    threads: Positive | None = None,
    memory: str = "2GB",
    work: Path | None = None,
    format: Format = "table",
) -> None:
    """Train GloVe vectors (Pennington et al. 2014) on the texts of logs.

    deltableu vectors train logs/ -o vectors.txt. Words are those that deltableu mine compares. The
    same seed gives the same vectors, whatever --threads and --memory.

    Parameters
    ----------
    logs
        Files, folders, patterns or URLs of JSON Lines, TSV or Parquet with the columns utterance
        and response; the first two also as .gz or .zst.
    output
        A file in GloVe's text format, or in word2vec's binary one if its name ends in .bin; either
        is packed if .gz follows.
    dimension
        Numbers per vector.
    window
        How many words to the left and right count, each 1 / distance.
    min_count
        Rarer words get no vector.
    max_vocabulary
        At most so many words, the most frequent ones.
    x_max
        Pairs seen so often, or more often, have full weight.
    alpha
        Rarer pairs weigh (x / x_max)^alpha.
    learning_rate
        Learning rate of AdaGrad.
    epochs
        Passes over all pairs.
    seed
        Seed of the first vectors and of the order of pairs.
    tokenize
        What a word is: words (runs of letters and digits; ideographs and kana one by one), or a
        tokenizer of sacreBLEU, such as ja-mecab, ko-mecab or zh. Mine with the same.
    threads
        All cores by default.
    memory
        For counts of pairs, such as 500MB or 8GB; the rest goes to disk. Vectors come on top.
    work
        Where to keep that and what is done, so that the same command goes on after being killed.
        By default OUTPUT.training, which is removed at the end.
    format
        How the summary is printed.
    """
    check_new_file(output, local_logs(logs), own=Own.VECTORS)
    place = work_folder(work, output, "training")
    seen: list[VectorEpoch] = []
    with says_where_it_goes_on(place), ProgressBar() as bar:
        started = time.monotonic()

        def tell(epoch: VectorEpoch) -> None:
            if seen and seen[-1].kept and not epoch.kept:
                note(f"goes on after epoch {seen[-1].number} of {epochs}")
            seen.append(epoch)
            if not epoch.kept:
                bar.line(f"epoch {epoch.number} of {epoch.of}: loss {epoch.loss:.5f}")

        train_vectors(
            logs,
            dimension=dimension,
            window=window,
            min_count=min_count,
            max_vocabulary=max_vocabulary,
            x_max=x_max,
            alpha=alpha,
            learning_rate=learning_rate,
            epochs=epochs,
            seed=seed,
            tokenize=tokenize,
            threads=threads,
            memory=parse_size(memory, "--memory"),
            work=place,
            progress=bar,
            on_epoch=tell,
            save=lambda made: write_vectors(made, output),
        )
        spent = time.monotonic() - started
    record = _summary(seen, dimension, spent)
    emit(fact_table(("trained", "number"), record), record, format, beside=[output])


@vectors.command
def near(
    *words: str,
    vectors: Path,
    top: Positive = 10,
    format: Format = "table",
) -> None:
    """Show the words whose vectors are nearest, by cosine.

    deltableu vectors near tea coffee --vectors vectors.txt.

    Parameters
    ----------
    words
        Words to look up, in lower case where they are not there as spelt.
    vectors
        A file in GloVe's text format or word2vec's text or binary format.
    top
        Neighbours per word.
    format
        How they are printed.
    """
    if not words:
        raise InputError("name at least one word")
    read = read_vectors(vectors)
    found = [(word, one) for word in words for one in nearest_words(read, word, top)]
    rows = [(word, one.word, round(one.cosine, 6)) for word, one in found]
    columns = (Column("word"), Column("neighbour"), Column("cosine", ".3f"))
    table = Table(columns, rows)
    emit(table, table.records(), format)


def _summary(epochs: list[VectorEpoch], dimension: int, seconds: float) -> dict[str, int | float]:
    last = epochs[-1]
    return {
        "words in the logs": last.tokens,
        "words with a vector": last.words,
        "numbers per vector": dimension,
        "co-occurrence counts": last.steps,
        "epochs": last.number,
        "loss of the first epoch": round(epochs[0].loss, 5),
        "loss of the last epoch": round(last.loss, 5),
        "seconds": round(seconds, 1),
    }
