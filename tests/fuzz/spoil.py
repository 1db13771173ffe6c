"""What can be wrong with a file: its bytes, its values, its columns, its rows."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

from tests.fuzz.values import RAW_JSON, hostile_text, hostile_value
from tests.fuzz.world import File, Raw, encoded, packed

_BYTES = (
    b"\0",
    b"\xff",
    b"\xc3\x28",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\r",
    b"\n",
    b"\t",
    b'"',
    b"\x1b[2J",
    b"\xe2\x80\xa8",
    b"{",
    b"}",
    b",",
    b"[" * 4000,
    b"9" * 5000,
    b"\n\n\n",
    b"\x00" * 64,
)


def spoil(file: File, rng: random.Random) -> None:
    """Write the file with something wrong, or at least unusual."""
    if file.form in ("jsonl", "json", "csv", "tsv", "parquet") and file.records:
        how = rng.choices((spoil_bytes, spoil_values, spoil_columns, spoil_rows), (3, 5, 2, 2))[0]
    elif file.form == "lines" and file.records:
        how = rng.choice((spoil_bytes, spoil_lines))
    else:
        how = spoil_bytes
    how(file, rng)


def spoil_bytes(file: File, rng: random.Random) -> None:
    """Bytes before or after packing, as broken disks, transfers and editors leave them."""
    inside = rng.random() < 0.5 or not file.packing
    content = bytearray(encoded(file.records, file.form))
    if not inside:
        content = bytearray(packed(bytes(content), file.packing))
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        _one_place(content, rng)
    file.path.write_bytes(packed(bytes(content), file.packing) if inside else content)


def _one_place(content: bytearray, rng: random.Random) -> None:
    # The first bytes of a file say what it is, so that they are worth more tries.
    size = len(content)
    place = rng.randrange(min(size, 64) + 1) if rng.random() < 0.3 else rng.randrange(size + 1)
    length = rng.choice((1, 1, 2, 4, 16, 200))
    match rng.randrange(9):
        case 0 if place < size:
            content[place] ^= 1 << rng.randrange(8)
        case 1:
            del content[place:]
        case 2:
            del content[place : place + length]
        case 3:
            content[place:place] = rng.choice(_BYTES)
        case 4:
            content[place:place] = content[place : place + length]
        case 5:
            content[:0] = rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\n", b"\x1f\x8b", b"PAR1"))
        case 6:
            content[:] = content.replace(b"\n", b"\r\n")
        case 7:
            content[place : place + length] = rng.randbytes(length)
        case _:
            content.extend(rng.choice((b"\n", b"\0", bytes(content[-50:]), b"\xff", b"x")))


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every container inside with each of its keys."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, one in pairs:
        found.append((value, key))
        if isinstance(one, dict | list):
            found += _places(one)
    return found


def spoil_values(file: File, rng: random.Random) -> None:
    """Values of another type, size or meaning; keys that are gone, or there twice."""
    records = copy.deepcopy(file.records)
    # A whole column that is strange is another case than one strange cell.
    if rng.random() < 0.2 and isinstance(records[0], dict) and records[0]:
        name, value = rng.choice(list(records[0])), _strange(file.form, rng)
        for one in records:
            one[name] = value
    for _ in range(rng.choice((1, 1, 2))):
        found = _places(records)
        inside, key = rng.choice(found[1:] or found)
        if rng.random() < 0.15:
            del inside[key]
        elif isinstance(inside[key], str) and rng.random() < 0.3:
            inside[key] = inside[key] + hostile_text(rng)
        else:
            inside[key] = _strange(file.form, rng)
        if not records:
            break
    content = encoded(_dicts(file, records), file.form)
    if file.form in ("jsonl", "json") and rng.random() < 0.1:
        content = content.replace(b'{"', b'{"id": "twice", "', 1)
    file.path.write_bytes(packed(content, file.packing))


def _dicts(file: File, records: list[Any]) -> list[Any]:
    """Only JSON can hold what is no record."""
    return (
        records
        if file.form in ("jsonl", "json")
        else [one for one in records if isinstance(one, dict)]
    )


def _strange(form: str, rng: random.Random) -> Any:
    if form == "parquet" and rng.random() < 0.3:
        return _arrow_value(rng)
    return Raw(rng.choice(RAW_JSON)) if rng.random() < 0.5 else hostile_value(rng)


def _arrow_value(rng: random.Random) -> Any:
    import datetime
    import decimal

    return rng.choice(
        (
            b"\xff\xfe",
            datetime.datetime(1, 1, 1),
            datetime.datetime(9999, 12, 31, 23, 59, 59),
            datetime.date(1, 1, 1),
            datetime.time(1),
            datetime.timedelta(days=3),
            decimal.Decimal("1.5"),
            decimal.Decimal("9" * 30),
            {"a": 1},
            [1, 2],
            2**63 - 1,
        )
    )


def spoil_columns(file: File, rng: random.Random) -> None:
    """A column that is missing, renamed, extra or there twice."""
    records = copy.deepcopy(file.records)
    name = rng.choice([key for one in records if isinstance(one, dict) for key in one] or ["id"])
    how = rng.choice(("drop", "rename", "extra", "twice", "upper", "shuffle"))
    for one in records:
        if how == "drop":
            one.pop(name, None)
        elif how in ("rename", "upper", "twice"):
            new = {"rename": "renamed", "upper": name.upper(), "twice": f"{name}@twice"}[how]
            if name in one:
                one[new] = one[name] if how == "twice" else one.pop(name)
        elif how == "extra":
            one[hostile_text(rng) if one is records[0] else "extra"] = "x"
        else:
            order = list(one.items())
            rng.shuffle(order)
            one.clear()
            one.update(order)
    if file.form == "parquet" and how == "twice":
        content = _twice_in_parquet(records, name)
    else:
        content = encoded(records, file.form).replace(f"{name}@twice".encode(), name.encode())
    file.path.write_bytes(packed(content, file.packing))


def _twice_in_parquet(records: list[Any], name: str) -> bytes:
    import io

    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(encoded(records, "parquet")))
    names = [one.removesuffix("@twice") for one in table.column_names]
    sink = io.BytesIO()
    pq.write_table(table.rename_columns(names), sink)
    return sink.getvalue()


def spoil_rows(file: File, rng: random.Random) -> None:
    """Rows that are there twice, missing, in another order, empty, or no rows at all."""
    records = copy.deepcopy(file.records)
    ways: tuple[Callable[[], Any], ...] = (
        lambda: records.append(rng.choice(records)),
        lambda: records.pop(rng.randrange(len(records))),
        lambda: rng.shuffle(records),
        lambda: records.insert(rng.randrange(len(records) + 1), {}),
        lambda: records.extend(records * 3),
        lambda: records.__delitem__(slice(1, None)),
        lambda: records.clear(),
    )
    rng.choice(ways)()
    file.path.write_bytes(packed(encoded(records, file.form), file.packing))


def spoil_lines(file: File, rng: random.Random) -> None:
    """Lines that are gone, there twice, or say something else."""
    lines = list(file.records)
    place = rng.randrange(len(lines))
    match rng.randrange(6):
        case 0:
            del lines[place]
        case 1:
            lines.insert(place, rng.choice(lines))
        case 2:
            lines[place] = hostile_text(rng)
        case 3:
            lines[place] += rng.choice(("\t", " ")) + hostile_text(rng)
        case 4:
            cells = lines[place].split("\t") if "\t" in lines[place] else lines[place].split(" ")
            cells[rng.randrange(len(cells))] = rng.choice((*RAW_JSON, hostile_text(rng)))
            lines[place] = rng.choice(("\t", " ")).join(cells)
        case _:
            lines[place] = f"{rng.choice(('note', 'systems', 'x', '[systems.x]', 'a.b'))} = " + (
                rng.choice(RAW_JSON)
            )
    file.path.write_bytes(packed(encoded(lines, "lines"), file.packing))
