"""HTML pages from templates: everything escaped, everything in one file."""

from __future__ import annotations

import re
from typing import Any

from deltableu._visible import visible
from deltableu.errors import InputError

#: The hyphen before a negative number in a sentence.
_NEGATIVE = re.compile(r"(?<![\w.)\]-])-(?=\d)")


def render(template: str, **values: Any) -> str:
    """Fill a template of this folder."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise InputError("an HTML report needs jinja2: pip install 'deltableu[report]'") from error
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
    environment.filters["minus_numbers"] = lambda text: _NEGATIVE.sub("−", str(text))
    environment.filters["shortened"] = _shortened
    environment.filters["capitalize_first"] = lambda text: text[:1].upper() + text[1:]
    return environment.get_template(template).render(**values)


def _shortened(name: str, most: int = 18) -> str:
    """A long name must leave room for a chart; tables have it whole."""
    return name if len(name) <= most else name[: most - 1] + "…"
