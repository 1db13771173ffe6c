"""`deltableu judge train`."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from deltableu.cli.log_inputs import local_logs
from deltableu.cli.long_run import says_where_it_goes_on, work_folder
from deltableu.cli.option_groups import METHOD, grouped
from deltableu.cli.options import Flag, Output, Positive, Whole
from deltableu.cli.output import Format, emit, note
from deltableu.cli.progress import ProgressBar
from deltableu.errors import InputError
from deltableu.io import Own, check_new_file
from deltableu.judges import (
    Preset,
    RaterSettings,
    TrainingEpoch,
    TrainingSettings,
    preset,
    train_rater,
    write_model,
)


@Parameter(name="*", group=METHOD)
@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """What differs from the preset.

    Parameters
    ----------
    embedding
        Size of the vector of a word or piece.
    hidden
        Units per direction of the Bi-GRU.
    layer
        Units per hidden layer of the network above the Bi-GRU.
    layers
        Number of these hidden layers.
    max_length
        Number of words or pieces of a text that are read; the rest is cut off.
    vocabulary
        Pieces of words (SentencePiece), or the words that deltableu mine compares.
    vocabulary_size
        Largest number of words or pieces.
    negatives
        Negative examples are two pairs of utterances that both have several responses (matched),
        or two random pairs of the logs as in the paper (random).
    learning_rate
        Learning rate of the optimiser, Adam.
    batch
        Number of examples per step.
    epochs
        Largest number of epochs.
    patience
        Number of epochs without a lower held-out loss after which training ends.
    validation
        Share of the utterances that is held out; from 1 on, their number.
    max_responses
        Largest number of responses that are used per utterance.
    start
        How the first parameters are drawn: as torch does; scaled, so that signals do not fade; or
        latent, also with words that turn up around the same utterances near each other.
    seed
        Seed of everything that is drawn.
    """

    embedding: Whole | None = None
    hidden: Whole | None = None
    layer: Whole | None = None
    layers: Whole | None = None
    max_length: Whole | None = None
    vocabulary: Literal["pieces", "words"] | None = None
    vocabulary_size: Whole | None = None
    negatives: Literal["matched", "random"] | None = None
    learning_rate: float | None = None
    batch: Whole | None = None
    epochs: Whole | None = None
    patience: Whole | None = None
    validation: float | None = None
    max_responses: Whole | None = None
    start: Literal["latent", "scaled", "torch"] | None = None
    seed: Whole = 0

    def make(self, name: Preset) -> tuple[RaterSettings, TrainingSettings]:
        """The preset, with what was given in its place."""
        shape, how = preset(name)
        return replace(shape, **self._given(shape)), replace(how, **self._given(how))

    def _given(self, settings: Any) -> dict[str, Any]:
        names = {field.name for field in fields(settings)}
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {k: value for k, value in values.items() if k in names and value is not None}


_DEFAULTS = TrainOptions()


@grouped
def train(
    *logs: str,
    output: Annotated[Path, Output],
    preset: Preset = "small",
    options: TrainOptions = _DEFAULTS,
    threads: Positive | None = None,
    work: Path | None = None,
    replace: Annotated[bool, Flag] = False,
    format: Format = "table",
) -> None:
    """Train the neural rater of upsilon-BLEU on logs.

    deltableu judge train logs/ -o judge.safetensors. Two responses to the same utterance are a
    positive example, two pairs of different utterances a negative one (Tsuta et al. 2020); some
    utterances are held out. Then rate with deltableu judge apply.

    Parameters
    ----------
    logs
        Files, folders, patterns or URLs of JSON Lines, TSV or Parquet with the columns utterance
        and response; the first two also as .gz or .zst.
    output
        The model: one .safetensors file with parameters, vocabulary and model card.
    preset
        The paper's sizes, or small ones that train in minutes on two cores.
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
    shape, how = options.make(preset)
    work = work_folder(work, output, "training")
    with says_where_it_goes_on(work), ProgressBar(lines=True) as bar:
        made = train_rater(
            logs,
            settings=shape,
            training=how,
            threads=threads,
            work=work,
            keep_work=True,
            progress=bar,
            on_epoch=_say,
        )
        model = write_model(output, made.settings, made.vocabulary, made.state, made.card)
        made.work.end()
    emit(model.tables(), model, format, tidy=model.tidy_table())


def _say(epoch: TrainingEpoch) -> None:
    note(
        ("goes on after " if epoch.kept else "")
        + f"epoch {epoch.number} of {epoch.of}: loss {epoch.loss:.4f}, held out "
        f"{epoch.validation_loss:.4f}, accuracy {epoch.accuracy:.1%}"
        + (" (the best so far)" if epoch.best else "")
    )
