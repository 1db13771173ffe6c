from __future__ import annotations

import pytest

from deltableu.corpus import System, read_systems


def test_both_ways_to_write_it(write):
    path = write(
        "systems.toml",
        '[systems]\nhuman = "human"\n"gpt 2.5" = "neural"\n[systems.bm25]\n'
        'type = "retrieval"\ndescription = "top one"\n[systems.bare]\n',
    )
    assert read_systems(path) == {
        "human": System("human", "human"),
        "gpt 2.5": System("gpt 2.5", "neural"),
        "bm25": System("bm25", "retrieval", "top one"),
        "bare": System("bare"),
    }


@pytest.mark.parametrize(
    ("content", "line", "field", "severity"),
    [
        ("[systems]\na = \n", 2, None, "error"),
        ('systems = "a"\n', None, "systems", "error"),
        ("[systems]\na = 3\n", None, "systems.a", "error"),
        ("[systems.a]\ntype = 3\n", None, "systems.a.type", "error"),
        ("[systems.a]\ntpye = 'x'\n", None, "systems.a.tpye", "warning"),
        ("[system.a]\ntype = 'x'\n", None, "system", "warning"),
        (b"[systems]\na = '\xff'\n", 2, None, "error"),
    ],
)
def test_wrong_files(write, the_problem, content, line, field, severity):
    path = write("systems.toml", content)
    problem = the_problem(lambda report: read_systems(path, report))
    assert (problem.file, problem.line, problem.field) == (str(path), line, field)
    assert problem.severity == severity
