"""Examples worked by hand or published, with their numbers. Scores are on 0-1, as printed there.

Sources: A, the golden test of the delta-BLEU author's fork of sacreBLEU (github.com/mgalley/
sacreBLEU @ 813fc0a, test_deltableu.py, Apache-2.0); B, made to tell the variants apart; C, the
third reference set of Table 1 of Galley et al. 2015, its punctuation set apart by spaces, with the
parroted message at an invented weight; sentence BLEU, from the formulas of Moses, Phrasal and cdec,
70.71 also in Table 1 of Wei and Jia 2021; the handout, lecture notes on BLEU (LING83600).
"""

from __future__ import annotations

from dataclasses import dataclass

# --- delta-BLEU, order 2, white space tokens ------------------------------------------------------


@dataclass(frozen=True)
class Expected:
    """Raw sums, precisions and score of one corpus under one variant."""

    numerators: tuple[float, ...]
    denominators: tuple[float, ...]
    lengths: tuple[int, int]
    score: float


A_REFERENCES = [
    [
        "the food was delicious .",
        "it was tasty .",
        "it was good .",
        "it was ok .",
        "it didn't taste that bad",
        "it tasted terrible .",
    ],
    [
        "it was great .",
        "i enjoyed the music .",
        "i liked the music .",
        "it sounded ok .",
        "it wasn't that bad .",
        "it was awful .",
    ],
]
A_WEIGHTS = [[1, 0.7, 0.3, 0.0, -0.1, -1], [1, 0.6, 0.3, 0.0, -0.1, -1]]
A_SYSTEM1 = ["the food was quite good .", "the music was great ."]
A_SYSTEM2 = ["the food tasted terrible .", "the music was awful ."]

B_REFERENCES = [["no no", "no thanks"]]
B_WEIGHTS = [[0.3, 0.9]]
B_HYPOTHESES = ["no no no"]

C_REFERENCES = [
    "exactly and if there were more riders so they drafted and crashed each other",
    "sweaarr i thought there were more",
    "i've heard its a 30 min lap . but that was from a dh rider !",
    "i thought they were more then that but ok",
    "they more the marrier .",
    "well then ! why were the biscuits needed ?",
    "me either it would be sick if there was like 5 laps",
]
C_WEIGHTS = [0.3, 0.8, 0.6, 0.4, -0.3, -0.8, -0.6]
C_GOOD = "i thought there were more laps"
C_BAD = "why were the biscuits the biscuits ?"

_A = (A_REFERENCES, A_WEIGHTS)
_B = (B_REFERENCES, B_WEIGHTS)
_C = ([C_REFERENCES], [C_WEIGHTS])
_CC = ([C_REFERENCES] * 2, [C_WEIGHTS] * 2)

#: (name, variant, hypotheses, references, weights, expected); no smoothing, order 2.
DELTA = [
    ("A1", "paper", A_SYSTEM1, *_A, Expected((8.5, 4.9), (11, 9), (11, 10), 0.6486)),
    ("A1", "galley2019", A_SYSTEM1, *_A, Expected((8.5, 4.9), (11, 9), (11, 10), 0.6486)),
    ("A1", "tsuta2020", A_SYSTEM1, *_A, Expected((8.5, 4.9), (11, 9), (11, 10), 0.6486)),
    ("A2", "paper", A_SYSTEM2, *_A, Expected((3.2, -2.4), (10, 8), (10, 10), 0.0)),
    ("A2", "galley2019", A_SYSTEM2, *_A, Expected((3.2, -2.4), (10, 8), (10, 10), 0.0)),
    ("A2", "tsuta2020", A_SYSTEM2, *_A, Expected((6.2, 1.6), (10, 8), (10, 10), 0.3521)),
    ("B", "paper", B_HYPOTHESES, *_B, Expected((0.9, 0.3), (2.7, 1.8), (3, 2), 0.2357)),
    ("B", "galley2019", B_HYPOTHESES, *_B, Expected((1.8, 0.3), (2.7, 1.8), (3, 2), 0.3333)),
    ("B", "tsuta2020", B_HYPOTHESES, *_B, Expected((0.9, 0.3), (2.7, 1.8), (3, 2), 0.2357)),
    ("C good", "paper", [C_GOOD], *_C, Expected((3.4, 3.2), (4.8, 4.0), (6, 6), 0.7528)),
    ("C good", "galley2019", [C_GOOD], *_C, Expected((3.4, 3.2), (4.8, 4.0), (6, 6), 0.7528)),
    ("C good", "tsuta2020", [C_GOOD], *_C, Expected((4.0, 3.2), (4.8, 4.0), (6, 6), 0.8165)),
    ("C bad", "paper", [C_BAD], *_C, Expected((-1.9, -2.4), (5.6, 4.8), (7, 6), 0.0)),
    ("C bad", "galley2019", [C_BAD], *_C, Expected((-1.9, -2.4), (5.6, 4.8), (7, 6), 0.0)),
    ("C bad", "tsuta2020", [C_BAD], *_C, Expected((0.8, 0.0), (5.6, 4.8), (7, 6), 0.0)),
    ("C", "paper", [C_GOOD, C_BAD], *_CC, Expected((1.5, 0.8), (10.4, 8.8), (13, 12), 0.1145)),
    ("C", "galley2019", [C_GOOD, C_BAD], *_CC, Expected((1.5, 0.8), (10.4, 8.8), (13, 12), 0.1145)),
    ("C", "tsuta2020", [C_GOOD, C_BAD], *_CC, Expected((4.8, 3.2), (10.4, 8.8), (13, 12), 0.4097)),
]

#: Segments of example A: (hypotheses, numerators of each segment, denominators of each segment).
A_SEGMENTS = [
    (A_SYSTEM1, [(4.3, 2.3), (4.2, 2.6)], [(6, 5), (5, 4)]),
    (A_SYSTEM2, [(1.0, -1.0), (2.2, -1.4)], [(5, 4), (5, 4)]),
]

#: Order 4, exp smoothing, example A: (hypotheses, raw numerators, denominators).
A_ORDER_4 = [
    (A_SYSTEM1, (8.5, 4.9, 2.0, 0.0), (11, 9, 7, 5), (0.7727, 0.5444, 2 / 7, 0.1), 0.3311),
    (A_SYSTEM2, (3.2, -2.4, -2.0, 0.0), (10, 8, 6, 4), (0.32, 1 / 16, 1 / 24, 1 / 32), 0.0714),
]

#: Signed arithmetic form: (hypotheses, references, weights, corpus score, segment scores).
SIGNED = [
    (A_SYSTEM1, *_A, (8.5 / 11 + 4.9 / 9) / 2, [(4.3 / 6 + 2.3 / 5) / 2, (4.2 / 5 + 2.6 / 4) / 2]),
    (A_SYSTEM2, *_A, 0.01, [-0.025, 0.045]),
    (B_HYPOTHESES, *_B, 0.25, [0.25]),
    ([C_GOOD, C_BAD], *_CC, 0.1175699, [0.7541667, -0.4196429]),
    # The largest absolute weight is a bad reference's: 1.5 would divide by it too.
    (["a b"], [["a b", "c"]], [[0.5, -1.0]], 0.5, [0.5]),
    (["c d"], [["a b", "c d"]], [[0.5, -1.0]], -1.0, [-1.0]),
    # Too short (BP e^-1): a good half is penalised, a bad one is not made smaller.
    (["a b"], [["a b c d", "x y z z"]], [[1.0, -1.0]], 0.3678794, [0.3678794]),
    (["x y"], [["a b c d", "x y z z"]], [[1.0, -1.0]], -1.0, [-1.0]),
    # One token: there is no bigram, and its order is left out.
    (["a"], [["a"]], [[1.0]], 1.0, [1.0]),
]

# --- Sentence BLEU --------------------------------------------------------------------------------

SENTENCE_METHODS = ("bleu+1", "moses", "nakov", "nakov-cdec")

#: (hypothesis, reference, order, the score of each method)
SENTENCE = [
    ("the cat sat on mat", "the cat is on the mat", 2, (0.4631, 0.4727, 0.3870, 0.3792)),
    ("the cat sat on mat", "the cat is on the mat", 4, (0.3309, 0.3342, 0.2737, 0.2709)),
    ("yes it is", "no he was it", 2, (0.2388, 0.2925, 0.2096, 0.1711)),
]
MOSES_CASE = ("朗兹曼 wrote .", "lanzmann wrote .", 0.7071)

# --- The handout, lower-cased and without punctuation ---------------------------------------------

_ALWAYS = ["I always do.", "I invariably do.", "I perpetually do."]
_OREJUELA = [
    "Orejuela appeared calm as he was led to the American plane which will take him to Miami, "
    "Florida."
]

#: (candidate, references, clipped matches, n-grams)
HANDOUT = [
    ("The dog snapped at the mailman.", ["The dog bit the mailman."], (4, 2), (6, 5)),
    ("The mailman nipped at the dog.", ["The dog bit the mailman."], (4, 2), (6, 5)),
    ("I always do.", _ALWAYS, (3, 2), (3, 2)),
    ("I always invariably perpetually do.", _ALWAYS, (5, 2), (5, 4)),
    (
        "Appeared calm when he was taken to the American plane, which will to Miami, Florida.",
        _OREJUELA,
        (13, 9, 5, 3),
        (15, 14, 13, 12),
    ),
    (
        "To Miami, Florida as he was led is to the was take him which will.",
        _OREJUELA,
        (13, 8, 3, 1),
        (15, 14, 13, 12),
    ),
]
