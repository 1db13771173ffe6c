"""HTML pages from templates: everything escaped, everything in one file."""

from __future__ import annotations

from typing import Any

from deltableu.errors import InputError


def render(template: str, **values: Any) -> str:
    """Fill a template of this folder."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise InputError("an HTML report needs more: pip install 'deltableu[report]'") from error
    environment = Environment(
        loader=PackageLoader("deltableu.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["minus"] = lambda text: str(text).replace("-", "−")
    return environment.get_template(template).render(**values)
