"""`deltableu rate`."""

from __future__ import annotations

from deltableu.cli.options import subcommands

rate = subcommands("rate", "Let people rate references and outputs, and look at what they said.")

rate.command(
    "deltableu.cli.rate_check:check", name="check", help="Say which raters failed, and why."
)
