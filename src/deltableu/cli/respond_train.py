"""`deltableu respond train`."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from deltableu.cli.log_inputs import local_logs
from deltableu.cli.long_run import says_where_it_goes_on, work_folder
from deltableu.cli.option_groups import METHOD, grouped
from deltableu.cli.options import Flag, Output, Positive, Whole
from deltableu.cli.output import Format, emit
from deltableu.cli.progress import ProgressBar
from deltableu.cli.training_notes import say_epoch, say_plan
from deltableu.errors import InputError
from deltableu.io import Own, check_new_file
from deltableu.respond import (
    ResponderKind,
    ResponderSettings,
    ResponderTraining,
    Size,
    responder_preset,
    train_responder,
    write_responder,
)

#: Minutes that training may take unless it is said, for presets that leave it open.
_MINUTES: dict[Size, float] = {"small": 30.0}


@Parameter(name="*", group=METHOD)
@dataclass(frozen=True, kw_only=True)
class ResponderOptions:
    """What differs from the preset.

    Parameters
    ----------
    embedding
        Size of the vector of a word or piece.
    hidden
        Units of the decoder, and of both directions of the encoder together.
    context
        Units of the GRU that reads the turns, for VHRED.
    latent
        Size of the latent variable of VHRED.
    max_length
        Number of words or pieces of a text that are read and learnt; the rest is cut off.
    turns
        Number of turns that are read, with the message, where the logs name threads: by default 1,
        and 3 for VHRED.
    max_pairs
        Largest number of logged pairs that are kept in memory.
    vocabulary
        Pieces of words (SentencePiece), or the words that deltableu mine compares.
    vocabulary_size
        Largest number of words or pieces.
    lowercase
        Learn pieces of lower-cased texts, and answer so.
    learning_rate
        Learning rate of the optimiser, Adam.
    batch
        Number of pairs per step.
    examples
        Largest number of pairs per epoch, drawn afresh for each; all of them by default.
    epochs
        Largest number of epochs.
    patience
        Number of epochs without a lower held-out loss after which training ends.
    validation
        Share of the threads (or utterances) that is held out; from 1 on, the number of pairs.
    dropout
        Share of the numbers of vectors that a step leaves out.
    word_dropout
        Share of the words that the decoder is not told in training.
    clip
        Largest norm of the gradient of a step.
    kl_steps
        Steps in which VHRED's divergence comes to count in full.
    seed
        Seed of everything that is drawn.
    """

    embedding: Whole | None = None
    hidden: Whole | None = None
    context: Whole | None = None
    latent: Whole | None = None
    max_length: Whole | None = None
    turns: Whole | None = None
    max_pairs: Whole | None = None
    vocabulary: Literal["pieces", "words"] | None = None
    vocabulary_size: Whole | None = None
    lowercase: Annotated[bool | None, Flag] = None
    learning_rate: float | None = None
    batch: Whole | None = None
    examples: Whole | None = None
    epochs: Whole | None = None
    patience: Whole | None = None
    validation: float | None = None
    dropout: float | None = None
    word_dropout: float | None = None
    clip: float | None = None
    kl_steps: Whole | None = None
    seed: Whole = 0

    def make(
        self, kind: ResponderKind, preset: Size
    ) -> tuple[ResponderSettings, ResponderTraining]:
        """The preset, with what was given in its place."""
        shape, how = responder_preset(kind, preset)
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        given = {name: value for name, value in given.items() if value is not None}
        ours, theirs = ({field.name for field in fields(one)} for one in (shape, how))
        for name in given:
            if name not in ours | theirs:
                option = name.replace("_", "-")
                raise InputError(f"--{option} is not for models of the kind {kind}: leave it out")
        return (
            replace(shape, **{k: value for k, value in given.items() if k in ours}),
            replace(how, **{k: value for k, value in given.items() if k in theirs}),
        )


_DEFAULTS = ResponderOptions()


@grouped
def train(
    *logs: str,
    output: Annotated[Path, Output],
    kind: ResponderKind = "seq2seq",
    preset: Size = "small",
    minutes: float | None = None,
    options: ResponderOptions = _DEFAULTS,
    threads: Positive | None = None,
    work: Path | None = None,
    replace: Annotated[bool, Flag] = False,
    format: Format = "table",
) -> None:
    """Train a neural responder on logs.

    What its help begins with stands where the command is named.

    Parameters
    ----------
    logs
        Files, folders, patterns or URLs of JSON Lines, TSV or Parquet with the columns utterance
        and response, and perhaps thread; the first two also as .gz or .zst.
    output
        The model: one .safetensors file with parameters, vocabulary and model card.
    kind
        Sequence to sequence with attention (seq2seq), or a latent variable hierarchical
        encoder-decoder (vhred).
    preset
        Sizes as in papers, or small ones that train in minutes on two cores.
    minutes
        About how long it may take, reading included: where all pairs would take longer, every epoch
        learns from other random ones, as many as fit. By default 30 with the small preset and no
        limit with the paper's; 0 is no limit. A run that is repeated with --examples instead gives
        the same model on machines of another speed.
    threads
        Number of threads, by default one per core. The last digits of a model depend on it.
    work
        Where to keep checkpoints, so that the same command goes on after being killed. By default
        OUTPUT.training, which is removed at the end.
    replace
        Put the new model in the place of an old one.
    format
        How the model card is printed.
    """
    if output.suffix != ".safetensors":
        raise InputError(f"{output}: the name of a model ends in .safetensors")
    check_new_file(output, local_logs(logs), own=Own.MODEL, replace=replace)
    budget = _MINUTES.get(preset) if minutes is None else minutes or None
    work = work_folder(work, output, "training")
    shape, how = options.make(kind, preset)
    running: dict[str, Any] = {
        "minutes": budget, "threads": threads, "work": work, "keep_work": True,
        "on_epoch": partial(say_epoch, perplexity=True), "on_plan": say_plan,
    }  # fmt: skip
    with says_where_it_goes_on(work), ProgressBar(lines=True) as bar:
        made = train_responder(
            logs, kind=kind, settings=shape, training=how, progress=bar, **running
        )
        model = write_responder(output, made.settings, made.vocabulary, made.state, made.card)
        made.work.end()
    emit(model.tables(), model, format, tidy=model.tidy_table())
