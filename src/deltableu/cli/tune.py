"""`deltableu tune`: choose candidates, and see what a metric can be made to do."""

from __future__ import annotations

from deltableu.cli.options import subcommands

tune = subcommands("tune", "Choose candidates by a metric, and see how a metric can be gamed.")

tune.command(
    "deltableu.cli.tune_mbr:mbr",
    name="mbr",
    help="Choose the candidate most like what else is probable: minimum Bayes risk.",
)
tune.command(
    "deltableu.cli.tune_audit:audit",
    name="audit",
    help="Search for degenerate outputs that a metric scores high.",
)
