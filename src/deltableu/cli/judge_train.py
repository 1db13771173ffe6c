"""`deltableu judge train`."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from cyclopts import Parameter

from deltableu.cli.log_inputs import local_logs
from deltableu.cli.long_run import says_where_it_goes_on, work_folder
from deltableu.cli.option_groups import METHOD, foldable, grouped
from deltableu.cli.options import Flag, Output, Positive, Whole, unused
from deltableu.cli.output import Format, emit, remark
from deltableu.cli.progress import ProgressBar
from deltableu.cli.training_notes import say_epoch, say_plan
from deltableu.errors import InputError
from deltableu.io import Own, check_new_file
from deltableu.judges import (
    Kind,
    Loss,
    Preset,
    RaterSettings,
    RuberSettings,
    RuberTraining,
    TrainingSettings,
    preset,
    ruber_preset,
    train_rater,
    train_relevance,
    train_ruber,
    write_model,
    write_relevance,
)

#: Minutes that training may take unless it is said, for presets that leave it open.
_MINUTES: dict[Preset, float] = {"small": 30.0}

_Shape = TypeVar("_Shape", RaterSettings, RuberSettings)
_How = TypeVar("_How", TrainingSettings, RuberTraining)


@Parameter(name="*", group=METHOD)
@foldable
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
    loss
        What RUBER makes smaller: the margin by which the reply to a message beats a sampled one, or
        the cross entropy of both.
    margin
        The margin of that loss, by default .075.
    max_pairs
        Largest number of logged pairs that RUBER keeps in memory, by default 1,000,000.
    vocabulary
        Pieces of words (SentencePiece), or the words that deltableu mine compares.
    vocabulary_size
        Largest number of words or pieces.
    negatives
        Negative examples of the NN-rater are two pairs of utterances that both have several
        responses (matched), or two random pairs of the logs as in the paper (random).
    learning_rate
        Learning rate of the optimiser, Adam.
    batch
        Number of examples per step.
    examples
        Largest number of examples per epoch, drawn afresh for each; all of them by default.
    epochs
        Largest number of epochs.
    patience
        Number of epochs without a lower held-out loss after which training ends.
    validation
        Share of the utterances that is held out; from 1 on, their number.
    max_responses
        Largest number of responses that the NN-rater uses per utterance.
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
    loss: Loss | None = None
    margin: float | None = None
    max_pairs: Whole | None = None
    vocabulary: Literal["pieces", "words"] | None = None
    vocabulary_size: Whole | None = None
    negatives: Literal["matched", "random"] | None = None
    learning_rate: float | None = None
    batch: Whole | None = None
    examples: Whole | None = None
    epochs: Whole | None = None
    patience: Whole | None = None
    validation: float | None = None
    max_responses: Whole | None = None
    start: Literal["latent", "scaled", "torch"] | None = None
    seed: Whole = 0

    def make_rater(self, name: Preset) -> tuple[RaterSettings, TrainingSettings]:
        """The preset of the NN-rater, with what was given in its place."""
        shape, how = preset(name)
        return self._placed(shape, how, "nn-rater")

    def check_none(self, kind: str) -> None:
        """Complain of whatever was given, for what is trained without any of it."""
        for field in fields(self):
            if getattr(self, field.name) != field.default:
                option = field.name.replace("_", "-")
                raise InputError(f"--{option} is not for models of the kind {kind}: leave it out")

    def make_ruber(self, name: Preset) -> tuple[RuberSettings, RuberTraining]:
        """The same for RUBER."""
        shape, how = ruber_preset(name)
        return self._placed(shape, how, "ruber")

    def _placed(self, shape: _Shape, how: _How, kind: Kind) -> tuple[_Shape, _How]:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        given = {name: value for name, value in given.items() if value is not None}
        ours, theirs = ({field.name for field in fields(one)} for one in (shape, how))
        for name in given:
            if name not in ours | theirs:
                option = name.replace("_", "-")
                raise InputError(f"--{option} is not for judges of the kind {kind}: leave it out")
        return (
            replace(shape, **{k: value for k, value in given.items() if k in ours}),
            replace(how, **{k: value for k, value in given.items() if k in theirs}),
        )


_DEFAULTS = TrainOptions()


@grouped
def train(
    *logs: str,
    output: Annotated[Path, Output],
    kind: Kind | Literal["relevance"] = "nn-rater",
    preset: Preset = "small",
    encoder: str | None = None,
    minutes: float | None = None,
    options: TrainOptions = _DEFAULTS,
    threads: Positive | None = None,
    work: Path | None = None,
    replace: Annotated[bool, Flag] = False,
    format: Format = "table",
) -> None:
    """Train the neural rater of upsilon-BLEU, or RUBER, on logs.

    What its help begins with stands where the command is named.

    Parameters
    ----------
    logs
        Files, folders, patterns or URLs of JSON Lines, TSV or Parquet with the columns utterance
        and response; the first two also as .gz or .zst.
    output
        The model: one .safetensors file with parameters, vocabulary and model card.
    kind
        What is trained: the rater of references (nn-rater), the scorer of replies (ruber), or, in
        one pass and without torch, how replies go with messages (relevance).
    preset
        The paper's sizes, or small ones that train in minutes on two cores.
    encoder
        What makes the vectors of texts that relevance is learnt from: wordllama (the default),
        sentence-transformers:NAME, package.module:function, or a file of word vectors.
    minutes
        About how long it may take, reading included: where all examples would take longer, every
        epoch learns from other random ones, as many as fit. By default 30 with the small preset and
        no limit with the paper's; 0 is no limit. A run that is repeated with --examples instead
        gives the same model on machines of another speed.
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
    if kind == "relevance":
        options.check_none(kind)
        unused(
            "--kind relevance",
            preset=(preset, "small"),
            minutes=(minutes, None),
            threads=(threads, None),
            work=(work, None),
        )
        with ProgressBar() as bar:
            learnt = train_relevance(logs, encoder=encoder or "wordllama", progress=bar)
        write_relevance(output, learnt)
        emit(learnt.tables(), learnt, format, tidy=learnt.tidy_table())
        # So few pairs can be told apart by some direction or other, whatever they say.
        if learnt.sums.pairs <= 2 * learnt.sums.dimension:
            remark(
                f"warning: {learnt.sums.pairs:,} pairs are no more than the numbers of their "
                f"vectors (2 x {learnt.sums.dimension:,}): such correlations come by chance, so "
                "train on many more"
            )
        return
    unused(f"--kind {kind}", encoder=(encoder, None))
    budget = _MINUTES.get(preset) if minutes is None else minutes or None
    work = work_folder(work, output, "training")
    running: dict[str, Any] = {
        "minutes": budget, "threads": threads, "work": work, "keep_work": True,
        "on_epoch": say_epoch, "on_plan": say_plan,
    }  # fmt: skip
    with says_where_it_goes_on(work), ProgressBar(lines=True) as bar:
        if kind == "ruber":
            scorer, ways = options.make_ruber(preset)
            made = train_ruber(logs, settings=scorer, training=ways, progress=bar, **running)
        else:
            shape, how = options.make_rater(preset)
            made = train_rater(logs, settings=shape, training=how, progress=bar, **running)
        model = write_model(output, made.settings, made.vocabulary, made.state, made.card)
        made.work.end()
    emit(model.tables(), model, format, tidy=model.tidy_table())
