"""`deltableu rate serve` and `deltableu rate demo`."""

from __future__ import annotations

import webbrowser
from importlib import resources
from pathlib import Path
from typing import Annotated

from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Flag, Whole
from deltableu.cli.output import note
from deltableu.cli.rate_campaigns import LOCAL
from deltableu.corpus import read_study

_PORT = int(LOCAL.rpartition(":")[2])


@grouped
def serve(
    campaign: Path,
    *,
    host: str = "127.0.0.1",
    port: Whole = _PORT,
    url: str | None = None,
    database: str | None = None,
    trust_proxy: str | None = None,
    haste: float = 20.0,
    order: Path | None = None,
) -> None:
    """Serve a campaign's page until stopped (Ctrl-C).

    deltableu rate serve CAMPAIGN. For raters elsewhere, put a proxy with TLS before it and say by
    which address they reach it: --url https://example.org/study. Every answer that the page
    confirms is on the disk.

    Parameters
    ----------
    campaign
        A folder that deltableu rate new made.
    host
        Address to listen at; by default this machine alone is served.
    port
        Port to listen at; 0 is any that is free.
    url
        By which raters reach the server, if not as the campaign says.
    database
        Where answers are, if not where the campaign says.
    trust_proxy
        Address of a proxy before this server, whose word on who calls is taken.
    haste
        Most requests per second of one rater.
    order
        A CSV file with the columns item and target: what is to be rated first, as deltableu plan
        rate and rate estimate write it; several lines of a target are as many ratings of it. By
        default the order is random.
    """
    from deltableu.rate import server

    server.serve_campaign(
        campaign,
        host=host,
        port=port,
        url=url or "",
        database=database or "",
        trust_proxy=trust_proxy or "",
        haste=haste,
        order=order,
        ready=lambda place: note(f"serving {campaign} at {place} (Ctrl-C stops)"),
    )


@grouped
def demo(
    campaign: Path = Path("rate-demo"),
    *,
    port: Whole = _PORT,
    no_browser: Annotated[bool, Flag] = False,
) -> None:
    """Try it: serve a ready campaign on a few dialogues, and open its page.

    Parameters
    ----------
    campaign
        The folder of the campaign, which is made if it is not there.
    port
        Port to listen at; 0 is any that is free.
    no_browser
        Only print the link.
    """
    from deltableu.rate import server

    if not campaign.exists():
        values = server.preset("delta-bleu") | {"what": "references", "per_item": 3}
        values["title"] = "Demo: rate responses"
        with resources.as_file(resources.files("deltableu.rate.server") / "demo") as folder:
            study = read_study(folder)
        server.new_campaign(campaign, server.settings_from(values, "demo"), study, raters=["you"])
        note(f"made {campaign}: what you answer is kept there")
    _, opened = server.open_database(campaign)
    try:
        # A new link ends the old one, which somebody may be using.
        server.check_not_served(campaign)
        token = opened.new_link("you").token
    finally:
        opened.close()

    def ready(place: str) -> None:
        link = f"{place}/r/{token}"
        note(f"your link is {link} (Ctrl-C stops)")
        if not no_browser:
            webbrowser.open(link)

    server.serve_campaign(campaign, port=port, ready=ready)
