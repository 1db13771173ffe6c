"""The multi-reference demo of DSTC7 Task 2, and what its evaluation printed.

Source: github.com/mgalley/DSTC7-End-to-End-Conversation-Modeling @ e2b50e5, evaluation/src/demo and
README.md there; BLEU and NIST are those of mteval-v14c.pl, cumulative over orders 1-4.
"""

from __future__ import annotations

HYPOTHESES = ["i do n't know .", "he is a rocket scientist .", "i love it !"]
REFERENCES = [
    ["ok that 's fine", "well it 's ok"],
    ["he is a trader", "he is an engineer"],
    ["i love it !", "i 'm not a fan"],
]

BLEU = [0.4667, 0.441, 0.4017, 0.3224]
NIST = [1.8338, 2.0838, 2.1949, 2.1949]
ENTROPY = [2.5232, 2.4849, 2.1972, 1.7918]
DISTINCT = [0.8667, 1.0]
LENGTH = 5.0
