"""Ratings from a study folder, or from a file of their own."""

from __future__ import annotations

from pathlib import Path

from deltableu.cli.options import STANDARD_INPUT
from deltableu.cli.output import remark, tell
from deltableu.corpus import RatingTable, read_ratings, read_study
from deltableu.errors import InputError
from deltableu.io import named_columns
from deltableu.rate import RaterCheckPlan, drop_failed_raters

_COLUMNS = "rater=annotator,value=score"


def read_rating_table(path: str, columns: str | None, *, drop_failed: bool = False) -> RatingTable:
    """All ratings of a study (its folder) or of a file; `columns` is what `--columns` says.

    Without those of failed raters, if wished, which is said when the command has ended.
    """
    if not path:
        raise InputError("a path is empty")
    mapped = named_columns(columns, _COLUMNS)
    if path != STANDARD_INPUT and Path(path).is_dir():
        if (Path(path) / "campaign.toml").is_file():
            raise InputError(
                f"{path}: is a campaign; deltableu rate export writes its ratings to a file"
            )
        ratings = read_study(path, columns=mapped, report=tell).ratings
    else:
        ratings = read_ratings("-" if path == STANDARD_INPUT else path, tell, columns=mapped)
    if not len(ratings):
        raise InputError(f"{'-' if path == STANDARD_INPUT else path}: there are no ratings")
    return kept_ratings(ratings) if drop_failed else ratings


def kept_ratings(ratings: RatingTable, plan: RaterCheckPlan | None = None) -> RatingTable:
    """Ratings without those of failed raters, which is said when the command has ended."""
    kept = drop_failed_raters(ratings, plan)
    remark(kept.note)
    return kept.ratings
