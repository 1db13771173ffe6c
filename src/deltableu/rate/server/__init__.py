"""Campaigns: a study in; a web page that people rate it on, and their ratings, out."""

from deltableu.errors import InputError

try:
    import fastapi as _fastapi
    import sqlalchemy as _sqlalchemy
    import uvicorn as _uvicorn
except ImportError as _error:
    _command = "run pip install 'deltableu[web]'"
    raise InputError(f"rating needs {_error.name}: {_command}") from _error
del _fastapi, _sqlalchemy, _uvicorn

from deltableu.rate.server.app import rating_app  # noqa: E402
from deltableu.rate.server.campaign import (  # noqa: E402
    Campaign,
    Criterion,
    PracticeTask,
    RatingScale,
    What,
    preset,
    preset_names,
    read_campaign,
    settings_from,
    write_campaign,
)
from deltableu.rate.server.database import Database, RaterLink, read_raters, utc_now  # noqa: E402
from deltableu.rate.server.organiser import OrganiserView, organiser_view  # noqa: E402
from deltableu.rate.server.organising import (  # noqa: E402
    NewCampaign,
    add_items,
    backup_campaign,
    check_per_item,
    new_campaign,
    open_database,
    random_names,
    restore_campaign,
    set_per_item,
    split_seeds,
    write_seeds,
)
from deltableu.rate.server.results import (  # noqa: E402
    CampaignStatus,
    PilotResult,
    RaterProgress,
    campaign_ratings,
    campaign_status,
    check_plan,
    pilot_result,
    weighted_study,
)
from deltableu.rate.server.service import Service  # noqa: E402
from deltableu.rate.server.serving import check_not_served, serve_campaign  # noqa: E402

__all__ = [
    "Campaign",
    "CampaignStatus",
    "Criterion",
    "Database",
    "NewCampaign",
    "OrganiserView",
    "PilotResult",
    "PracticeTask",
    "RaterLink",
    "RaterProgress",
    "RatingScale",
    "Service",
    "What",
    "add_items",
    "backup_campaign",
    "campaign_ratings",
    "campaign_status",
    "check_not_served",
    "check_per_item",
    "check_plan",
    "new_campaign",
    "open_database",
    "organiser_view",
    "pilot_result",
    "preset",
    "preset_names",
    "random_names",
    "rating_app",
    "read_campaign",
    "read_raters",
    "restore_campaign",
    "serve_campaign",
    "set_per_item",
    "settings_from",
    "split_seeds",
    "utc_now",
    "weighted_study",
    "write_campaign",
    "write_seeds",
]
