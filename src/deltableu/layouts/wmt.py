"""Folders of the metrics task of the WMT: outputs, references, sources, human scores."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from deltableu.corpus import Rating
from deltableu.errors import InputError, Problem
from deltableu.io import Report, as_number, read_lines, shown
from deltableu.layouts.foreign import foreign_rows
from deltableu.layouts.layout import Layout, Parts, Request, Understanding, one_path
from deltableu.layouts.parts import Place
from deltableu.layouts.plain import read_aligned, system_names


class WmtLayout(Layout):
    """`system-outputs/LP/TEST.SYSTEM.LP`, `references/TEST-LPLP-ref.LANG`, `DA-seglevel.csv`.

    As the data of the metrics tasks of WMT15 to WMT19 are packed. Where several systems wrote the
    same, human scores name them all (A+B): the first one gets the score, so that it counts once.
    """

    name: ClassVar[str] = "wmt"
    summary: ClassVar[str] = "metrics task of WMT15-19: system-outputs/, references/, DA scores"
    example: ClassVar[str] = "wmt WMT17 --pair cs-en"

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        folder, pair = one_path(request, "the folder of a year"), request.pair
        outputs = folder / "system-outputs"
        if not outputs.is_dir():
            raise InputError(Problem("has no folder system-outputs", file=str(folder)))
        pairs = sorted(one.name for one in outputs.iterdir() if one.is_dir())
        if pair is None or pair not in pairs:
            raise InputError(f"--pair names one of {', '.join(pairs)}, got {pair}")
        files = sorted(one for one in (outputs / pair).iterdir() if not one.name.startswith("."))
        if not files:
            raise InputError(Problem("holds no outputs", file=str(outputs / pair)))
        test = files[0].name.partition(".")[0]
        names = system_names(files, f"{test}.{{}}.{pair}")
        short = pair.replace("-", "")
        references = _found(folder / "references", f"{test}-{short}-ref*")
        sources = _found(folder / "source", f"{test}-{short}-src*")
        if not references:
            raise InputError(
                Problem(f"has no reference of {pair}", file=str(folder / "references"))
            )
        yield from read_aligned(
            references, sources[:1], dict(zip(names, files, strict=True)), report
        )
        scores = folder / "DA-seglevel.csv"
        if scores.is_file():
            yield from _segment_scores(scores, pair, names, report, understood)


def _found(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern)) if folder.is_dir() else []


def _segment_scores(
    path: Path, pair: str, names: list[str], report: Report, understood: Understanding
) -> Parts:
    for line, row in foreign_rows(path, report):
        if row.get("LP") != pair:
            continue
        name = str(row.get("SYSTEM", "")).partition("+")[0]
        if name not in names:
            understood.leave_out("human scores of systems that are not there")
            continue
        value = as_number(str(row.get("HUMAN")))
        if not isinstance(value, int | float):
            report(Problem(f"must be a number, got {shown(value)}", str(path), line, "HUMAN"))
            continue
        rating = Rating("people", str(row.get("SID")), f"system:{name}", float(value), "da")
        yield rating, Place(str(path), line)


class MtmeLayout(Layout):
    """`sources/LP.txt`, `references/LP.NAME.txt`, `system-outputs/LP/SYSTEM.txt`, `human-scores/`.

    The folder of one test set as mt-metrics-eval keeps it; scores of segments are one line per
    segment and system (`SYSTEM SCORE`), None where there is none.
    """

    name: ClassVar[str] = "mtme"
    summary: ClassVar[str] = "a test set of mt-metrics-eval, with documents and human scores"
    example: ClassVar[str] = "mtme mt-metrics-eval-v2/wmt22 --pair en-de"

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        folder, pair = one_path(request, "the folder of a test set"), request.pair
        sources = folder / "sources"
        if not sources.is_dir():
            raise InputError(Problem("has no folder sources", file=str(folder)))
        pairs = sorted(one.name.partition(".")[0] for one in sources.iterdir())
        if pair is None or pair not in pairs:
            raise InputError(f"--pair names one of {', '.join(pairs)}, got {pair}")
        references = sorted((folder / "references").glob(f"{pair}.*.txt"))
        systems = sorted((folder / "system-outputs" / pair).glob("*.txt"))
        documents = [one for one in [folder / "documents" / f"{pair}.docs"] if one.is_file()]
        if not references:
            raise InputError(
                Problem(f"has no reference of {pair}", file=str(folder / "references"))
            )
        names = [one.name.removesuffix(".txt") for one in systems]
        yield from read_aligned(
            references,
            [sources / f"{pair}.txt"],
            dict(zip(names, systems, strict=True)),
            report,
            documents=documents,
        )
        for path in sorted((folder / "human-scores").glob(f"{pair}.*.seg.score")):
            criterion = path.name.removeprefix(f"{pair}.").removesuffix(".seg.score")
            yield from _seg_scores(path, criterion, names, report, understood)


def _seg_scores(
    path: Path, criterion: str, names: list[str], report: Report, understood: Understanding
) -> Parts:
    counts: dict[str, int] = {}
    for line, text in read_lines(path, report):
        name, score = _two(text, path, line)
        counts[name] = counts.get(name, 0) + 1
        if name not in names:
            understood.leave_out("human scores of systems that are not there")
        elif score != "None":
            value = as_number(score)
            if not isinstance(value, int | float):
                report(Problem(f"must be a number or None, got {shown(score)}", str(path), line))
                continue
            item = str(counts[name])
            rating = Rating("people", item, f"system:{name}", float(value), criterion)
            yield rating, Place(str(path), line)


def _two(text: str, path: Path, line: int) -> tuple[str, str]:
    parts = text.split()
    if len(parts) != 2:
        message = f"must hold a system and its score, got {shown(text)}"
        raise InputError(Problem(message, str(path), line))
    return parts[0], parts[1]


class SacrebleuLayout(Layout):
    """`wmt17.de-en.src` and `.ref` (or `.ref0`, `.refA` ...) as sacreBLEU keeps a test set."""

    name: ClassVar[str] = "sacrebleu"
    summary: ClassVar[str] = "a test set in sacreBLEU's cache, with your outputs"
    example: ClassVar[str] = "sacrebleu ~/.sacrebleu/wmt17 --pair de-en --systems mine.txt"

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        folder, pair = one_path(request, "the folder of a test set"), request.pair
        folder = folder.expanduser()
        if not folder.is_dir():
            raise InputError(Problem("there is no such folder", file=str(folder)))
        stems = sorted({_stem(one.name) for one in folder.iterdir() if ".src" in one.name})
        known = sorted(stem.rpartition(".")[2] for stem in stems)
        stem = next((one for one in stems if one.endswith(f".{pair}") or one == pair), None)
        if stem is None:
            raise InputError(f"--pair names one of {', '.join(known) or 'none'}, got {pair}")
        references = sorted(folder.glob(f"{stem}.ref*"))
        if not references:
            raise InputError(Problem("has no reference", file=str(folder / stem)))
        systems = request.systems
        names = system_names(systems, request.names)
        sources = sorted(folder.glob(f"{stem}.src*"))[:1]
        documents = sorted(folder.glob(f"{stem}.docid"))[:1]
        yield from read_aligned(
            references,
            sources,
            dict(zip(names, systems, strict=True)),
            report,
            documents=documents,
        )


def _stem(name: str) -> str:
    return name.partition(".src")[0]
