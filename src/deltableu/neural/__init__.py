"""What all neural models share: logs in, vocabularies, batches, epochs and model files out.

What needs torch is in `deltableu.neural.networks`.
"""

from deltableu.neural.batches import cut_batches, lengths_of
from deltableu.neural.encoded_texts import EncodedTexts
from deltableu.neural.epochs import STATE, Run, TrainedModel, TrainingEpoch
from deltableu.neural.extra import check_threads, need
from deltableu.neural.learning_task import Drawn, JudgedBatch, LearningTask, Split
from deltableu.neural.log_vocabulary import log_teller, log_vocabulary, training_key
from deltableu.neural.mixing import different, fresh, mixed, salt
from deltableu.neural.model_file import ModelFormat, StoredModel, file_header
from deltableu.neural.model_reading import by_length, read_once
from deltableu.neural.piece_vocabulary import PieceVocabulary, piece_vocabulary
from deltableu.neural.row_keys import KeyedRows, RowKeys, row_keys, starts_of
from deltableu.neural.row_texts import RowTexts
from deltableu.neural.settings import (
    HowTrained,
    NetworkShape,
    check_how_trained,
    check_minutes,
    check_preset,
    check_size,
    check_validation,
    gru_shapes,
)
from deltableu.neural.training_plan import Pace, TrainingPlan, fit_plan
from deltableu.neural.vocabulary import Vocabulary, vocabulary_from_bytes
from deltableu.neural.word_vocabulary import WordVocabulary, word_vocabulary

__all__ = [
    "STATE",
    "Drawn",
    "EncodedTexts",
    "HowTrained",
    "JudgedBatch",
    "KeyedRows",
    "LearningTask",
    "ModelFormat",
    "NetworkShape",
    "Pace",
    "PieceVocabulary",
    "RowKeys",
    "RowTexts",
    "Run",
    "Split",
    "StoredModel",
    "TrainedModel",
    "TrainingEpoch",
    "TrainingPlan",
    "Vocabulary",
    "WordVocabulary",
    "by_length",
    "check_how_trained",
    "check_minutes",
    "check_preset",
    "check_size",
    "check_threads",
    "check_validation",
    "cut_batches",
    "different",
    "file_header",
    "fit_plan",
    "fresh",
    "gru_shapes",
    "lengths_of",
    "log_teller",
    "log_vocabulary",
    "mixed",
    "need",
    "piece_vocabulary",
    "read_once",
    "row_keys",
    "salt",
    "starts_of",
    "training_key",
    "vocabulary_from_bytes",
    "word_vocabulary",
]
