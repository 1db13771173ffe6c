"""HTML pages from templates: everything escaped, everything in one file."""

from __future__ import annotations

from typing import Any

from deltableu._visible import visible
from deltableu.errors import InputError


def render(template: str, **values: Any) -> str:
    """Fill a template of this folder."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise InputError("an HTML report needs more: pip install 'deltableu[report]'") from error
    environment = Environment(
        loader=PackageLoader("deltableu.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Control characters are no part of HTML, whatever texts hold them.
        finalize=lambda one: one if isinstance(one, Markup) else visible(str(one), directions=True),
    )
    environment.filters["minus"] = lambda text: str(text).replace("-", "−")
    return environment.get_template(template).render(**values)
