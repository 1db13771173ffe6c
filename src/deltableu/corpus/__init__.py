"""What everything is about: files in; checked items, outputs, ratings and studies out, and back."""

from typing import TYPE_CHECKING

from deltableu._lazy import at_first_use

if TYPE_CHECKING:
    from deltableu.corpus.characteristics import StudyFacts, TextFacts, study_facts
    from deltableu.corpus.check import (
        CheckResult,
        RatingCounts,
        ReferenceCounts,
        SystemCounts,
        check_study,
    )
    from deltableu.corpus.contamination import ItemKeys, OutputMatches
    from deltableu.corpus.feature_weights import (
        TunedWeights,
        read_feature_weights,
        read_tuned_weights,
        write_feature_weights,
    )
    from deltableu.corpus.groups import item_groups, meta_value, obvious_groups, ungrouped_note
    from deltableu.corpus.item_columns import item_ids
    from deltableu.corpus.item_records import default_origin, item_record
    from deltableu.corpus.items import FORMS as ITEM_FORMS
    from deltableu.corpus.items import read_items, write_items
    from deltableu.corpus.missing import Missing, settle_missing
    from deltableu.corpus.nbest import read_nbest, write_nbest
    from deltableu.corpus.nbest_lists import NBestLists, merge_nbest, weighted_sums
    from deltableu.corpus.outputs import (
        line_text,
        match_outputs,
        read_outputs,
        write_output_pairs,
        write_outputs,
    )
    from deltableu.corpus.plain import read_plain, write_plain
    from deltableu.corpus.rating import KINDS, SCORED, Kind, Rating, Scale
    from deltableu.corpus.rating_choice import Unknown
    from deltableu.corpus.rating_table import RatingTable, Repeats
    from deltableu.corpus.rating_targets import RatingTargets, texts_by_target
    from deltableu.corpus.ratings import holds_ratings, read_ratings, write_ratings
    from deltableu.corpus.references import (
        WEIGHTS_FROM,
        ReferenceSet,
        reference_set,
        unrated_finds,
        weights_label,
    )
    from deltableu.corpus.rows import NumberRows, TextRows, row_sizes
    from deltableu.corpus.runs import system_runs, with_runs
    from deltableu.corpus.score_table import ScoreTable, align_scores
    from deltableu.corpus.scores import read_scores
    from deltableu.corpus.simulated import (
        SIMULATED_LABEL,
        SIMULATED_PREFIX,
        SIMULATED_RATERS,
        labelled,
        labelled_rows,
        of_simulated,
        rater_words,
        says_simulated,
        told_of_simulated,
    )
    from deltableu.corpus.study import check_new_study, output_file, read_study, write_study
    from deltableu.corpus.systems import read_systems, write_systems
    from deltableu.corpus.tuned_on import TunedOn
    from deltableu.corpus.types import ORIGINS, Item, Origin, Reference, Source, Study, System

__all__ = [
    "ITEM_FORMS",
    "KINDS",
    "ORIGINS",
    "SCORED",
    "SIMULATED_LABEL",
    "SIMULATED_PREFIX",
    "SIMULATED_RATERS",
    "WEIGHTS_FROM",
    "CheckResult",
    "Item",
    "ItemKeys",
    "Kind",
    "Missing",
    "NBestLists",
    "NumberRows",
    "Origin",
    "OutputMatches",
    "Rating",
    "RatingCounts",
    "RatingTable",
    "RatingTargets",
    "Reference",
    "ReferenceCounts",
    "ReferenceSet",
    "Repeats",
    "Scale",
    "ScoreTable",
    "Source",
    "Study",
    "StudyFacts",
    "System",
    "SystemCounts",
    "TextFacts",
    "TextRows",
    "TunedOn",
    "TunedWeights",
    "Unknown",
    "align_scores",
    "check_new_study",
    "check_study",
    "default_origin",
    "holds_ratings",
    "item_groups",
    "item_ids",
    "item_record",
    "labelled",
    "labelled_rows",
    "line_text",
    "match_outputs",
    "merge_nbest",
    "meta_value",
    "obvious_groups",
    "of_simulated",
    "output_file",
    "rater_words",
    "read_feature_weights",
    "read_items",
    "read_nbest",
    "read_outputs",
    "read_plain",
    "read_ratings",
    "read_scores",
    "read_study",
    "read_systems",
    "read_tuned_weights",
    "reference_set",
    "row_sizes",
    "says_simulated",
    "settle_missing",
    "study_facts",
    "system_runs",
    "texts_by_target",
    "told_of_simulated",
    "ungrouped_note",
    "unrated_finds",
    "weighted_sums",
    "weights_label",
    "with_runs",
    "write_feature_weights",
    "write_items",
    "write_nbest",
    "write_output_pairs",
    "write_outputs",
    "write_plain",
    "write_ratings",
    "write_study",
    "write_systems",
]

__getattr__, __dir__ = at_first_use(__name__)
