"""What people said in; quality control, standard scores, agreement and weights out."""

from deltableu.rate.chance_agreement import krippendorff_alpha
from deltableu.rate.human_ceiling import human_ceiling, split_half_reliability
from deltableu.rate.human_scores import HumanScores
from deltableu.rate.judgements import Judgements, rater_rows
from deltableu.rate.largest_weights import expected_largest
from deltableu.rate.rater_agreement import annotator_correlations, inter_rater_correlations
from deltableu.rate.rating_noise import RatingNoise, Source, rating_noise
from deltableu.rate.standardise import standardise
from deltableu.rate.weights import RatedReferences, rated_references

__all__ = [
    "HumanScores",
    "Judgements",
    "RatedReferences",
    "RatingNoise",
    "Source",
    "annotator_correlations",
    "expected_largest",
    "human_ceiling",
    "inter_rater_correlations",
    "krippendorff_alpha",
    "rated_references",
    "rater_rows",
    "rating_noise",
    "split_half_reliability",
    "standardise",
]
