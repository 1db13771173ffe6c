from __future__ import annotations

from types import SimpleNamespace

import pytest

from deltableu.corpus import check_study, read_study
from deltableu.errors import InputError
from deltableu.layouts import ColumnMap, Request, expanded, import_study

PATHS = ("paths", "systems", "references", "sources", "documents")


def as_request(options):
    given = {name: expanded(map(str, options.pop(name))) for name in PATHS if name in options}
    return Request(columns=ColumnMap.parse(options.pop("columns", None)), **given, **options)


@pytest.fixture
def bring(tmp_path):
    """Import files and read the study again, which is whole unless `checked` is False."""

    def run(layout, *paths, missing="error", keep_all=False, checked=True, **options):
        output = tmp_path / "study"
        request = as_request({"paths": paths, **options})
        imported = import_study(layout, request, output, missing=missing, keep_all=keep_all)
        if checked:
            problems = check_study(output).problems
            assert [str(one) for one in problems if one.severity == "error"] == []
        study = read_study(output)
        return SimpleNamespace(
            items={item.id: item for item in study.items},
            outputs=study.outputs,
            ratings=[] if study.ratings is None else list(study.ratings),
            left_out=imported.understood.left_out,
            counts=imported.counts,
        )

    return run


@pytest.fixture
def refuse(tmp_path):
    """What is said of files that cannot be imported; nothing is written."""

    def run(layout, *paths, **options):
        output = tmp_path / "study"
        keep_all = options.pop("keep_all", True)
        request = as_request({"paths": paths, **options})
        with pytest.raises(InputError) as caught:
            import_study(layout, request, output, missing="empty", keep_all=keep_all)
        assert not output.exists()
        return str(caught.value).replace(f"{tmp_path}/", "")

    return run
