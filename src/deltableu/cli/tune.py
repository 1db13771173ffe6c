"""`deltableu tune`."""

from __future__ import annotations

from deltableu.cli.options import subcommands

tune = subcommands("tune", "Tune what chooses candidates, choose, and see how a metric is gamed.")

#: Subcommands in the order of `--help`, with their modules.
_COMMANDS = {
    "mert": ("tune_mert", "Find weights of features with which the best candidates score best."),
    "rerank": ("tune_rerank", "Choose the best candidate of each item by weighted features."),
    "mbr": (
        "tune_mbr",
        "Choose the candidate most like all others that are probable.\n\n"
        "deltableu tune mbr NBEST -o outputs.jsonl --utility chrf. That is minimum Bayes risk: "
        "each candidate is scored with the others as references, weighted by their probability.",
    ),
    "audit": (
        "tune_audit",
        "Search for degenerate outputs that a metric scores high.\n\n"
        "deltableu tune audit STUDY --metrics delta-bleu,bleu,chrf. What attacks find is shown "
        "beside the study's systems. They are tuned on one half of the items and answer the other; "
        "only the oracle sees an item's own references.",
    ),
}
for _name, (_module, _help) in _COMMANDS.items():
    tune.command(f"deltableu.cli.{_module}:{_name}", name=_name, help=_help)
