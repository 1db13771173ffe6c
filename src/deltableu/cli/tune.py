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
        "Choose the candidate most like all others that are probable.",
    ),
    "audit": ("tune_audit", "Search for degenerate outputs that a metric scores high."),
}
for _name, (_module, _help) in _COMMANDS.items():
    tune.command(f"deltableu.cli.{_module}:{_name}", name=_name, help=_help)
