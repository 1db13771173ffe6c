"""`deltableu rate`."""

from __future__ import annotations

from deltableu.cli.options import subcommands

rate = subcommands("rate", "Let people rate references and outputs, and look at what they said.")

#: Subcommands in the order of `--help`, with their modules: those of campaigns need the extra web.
_COMMANDS = {
    "new": ("rate_campaigns", "Make a campaign: a page on which people rate a study."),
    "serve": ("rate_serve", "Serve a campaign's page until stopped."),
    "demo": ("rate_serve", "Try it: serve a ready campaign on a few dialogues."),
    "status": ("rate_results", "Say how far a campaign is, and who did how much."),
    "add": ("rate_campaigns", "Add raters, items or ratings per item to a campaign."),
    "link": ("rate_campaigns", "Give raters new links; their old ones end."),
    "revoke": ("rate_campaigns", "End raters' links; what they said stays."),
    "exclude": ("rate_campaigns", "Let nothing count that raters said, and ask others."),
    "forget": ("rate_campaigns", "Put a name that says nothing in place of a rater's."),
    "pause": ("rate_campaigns", "Let nobody rate for now."),
    "resume": ("rate_campaigns", "Let people rate again."),
    "pilot": ("rate_results", "Say how many raters per item a pilot calls for, and go on."),
    "seeds": ("rate_results", "Keep the items that people liked, and split them."),
    "export": ("rate_results", "Write a campaign's ratings to a file."),
    "weights": ("rate_results", "Write the study with weights from a campaign's ratings."),
    "simulate": ("rate_simulate", "Write the study with simulated ratings, for want of people."),
    "agree": ("rate_agree", "Say how well raters agree, and how many are enough."),
    "check": ("rate_check", "Say which raters failed, and why."),
    "estimate": ("rate_estimate", "Say how people would rate systems, from few ratings."),
    "rank": ("rate_rank", "Rank systems by which of two outputs people preferred."),
    "backup": ("rate_results", "Copy a campaign's answers to a file, also while it is served."),
    "restore": ("rate_results", "Put a backup in the place of a lost database."),
}
for _name, (_module, _help) in _COMMANDS.items():
    rate.command(f"deltableu.cli.{_module}:{_name}", name=_name, help=_help)
