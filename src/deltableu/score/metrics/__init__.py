"""One file a family of metrics: hypotheses and references in, rows and scores out."""

__all__ = ["BUILT_IN"]

#: File and class of each metric; files are imported when one of their metrics is asked for.
BUILT_IN = {
    "bleu": "bleu.BLEU",
    "delta-bleu": "delta_bleu.DeltaBLEU",
    "signed-delta-bleu": "delta_bleu.SignedDeltaBLEU",
    "sentence-bleu": "sentence_bleu.SentenceBLEU",
    "nist": "nist.NIST",
    "ibleu": "ibleu.IBLEU",
    "cider": "cider.CIDEr",
    "cider-d": "cider.CIDErD",
    "distinct-1": "diversity.Distinct1",
    "distinct-2": "diversity.Distinct2",
    "entropy-1": "diversity.Entropy1",
    "entropy-2": "diversity.Entropy2",
    "entropy-3": "diversity.Entropy3",
    "entropy-4": "diversity.Entropy4",
    "length": "sentinels.Length",
    "message-overlap": "sentinels.MessageOverlap",
    "constant": "sentinels.Constant",
    "random": "sentinels.Random",
    "chrf": "chrf.ChrF",
    "chrf++": "chrf.ChrFPlusPlus",
    "ter": "ter.TER",
    "rouge-1": "rouge.Rouge1",
    "rouge-2": "rouge.Rouge2",
    "rouge-l": "rouge.RougeL",
    "delta-chrf": "discriminative.DeltaChrF",
    "delta-chrf++": "discriminative.DeltaChrFPlusPlus",
    "delta-rouge-l": "discriminative.DeltaRougeL",
    "delta-ter": "discriminative.DeltaTER",
    "delta-vectors": "discriminative.DeltaVectors",
    "delta-table": "discriminative.DeltaTable",
}
