"""What everything is about: files in; checked items, outputs, ratings and studies out, and back."""

from deltableu.corpus.atomic import atomic_folder
from deltableu.corpus.check import (
    CheckResult,
    RatingCounts,
    ReferenceCounts,
    SystemCounts,
    check_study,
)
from deltableu.corpus.files import atomic_write, open_text, read_lines
from deltableu.corpus.items import read_items, write_items
from deltableu.corpus.outputs import read_outputs, write_outputs
from deltableu.corpus.plain import read_plain, write_plain
from deltableu.corpus.ratings import read_ratings, write_ratings
from deltableu.corpus.references import ReferenceSet, reference_set
from deltableu.corpus.report import Report, fail
from deltableu.corpus.scores import ScoreTable, read_scores
from deltableu.corpus.study import read_study, write_study
from deltableu.corpus.systems import read_systems, write_systems
from deltableu.corpus.types import (
    KINDS,
    ORIGINS,
    Item,
    Kind,
    Origin,
    Rating,
    Reference,
    Scale,
    Source,
    Study,
    System,
)

__all__ = [
    "KINDS",
    "ORIGINS",
    "CheckResult",
    "Item",
    "Kind",
    "Origin",
    "Rating",
    "RatingCounts",
    "Reference",
    "ReferenceCounts",
    "ReferenceSet",
    "Report",
    "Scale",
    "ScoreTable",
    "Source",
    "Study",
    "System",
    "SystemCounts",
    "atomic_folder",
    "atomic_write",
    "check_study",
    "fail",
    "open_text",
    "read_items",
    "read_lines",
    "read_outputs",
    "read_plain",
    "read_ratings",
    "read_scores",
    "read_study",
    "read_systems",
    "reference_set",
    "write_items",
    "write_outputs",
    "write_plain",
    "write_ratings",
    "write_study",
    "write_systems",
]
