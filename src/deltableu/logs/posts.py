"""Log files in, posts out: many at once, and one by one where something is unusual."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import msgspec

from deltableu._types import Bools, Ints
from deltableu.errors import InputError, Problem
from deltableu.io import (
    OBJECTS,
    Checker,
    FoundFile,
    PathLike,
    Report,
    WrongColumns,
    decode_many,
    fail,
    filled_lines,
    unescape_cell,
)
from deltableu.logs.columns import POST_COLUMNS, Columns, find_logs, layout_of, named
from deltableu.logs.read_lines import read_header
from deltableu.logs.read_rows import (
    Advance,
    line_reader,
    pick,
    read_line_groups,
    read_row_groups,
)
from deltableu.logs.scanned_posts import (
    PostColumns,
    PostLists,
    PostScanner,
    ScannedPosts,
    post_columns,
)
from deltableu.logs.times import NO_TIME
from deltableu.logs.values import (
    Name,
    checked_identifier,
    checked_text,
    checked_time,
    checked_truth,
    plain_names,
    plain_texts,
    plain_times,
    plain_truths,
)
from deltableu.text import Texts

_BLOCK = 8192
#: The size of a post in memory, without its texts.
_POST_BYTES = 80
_GETTERS = [attrgetter(name) for name in POST_COLUMNS]


@dataclass(frozen=True, slots=True)
class Post:
    """Something that somebody wrote.

    Attributes
    ----------
    user : str
        Who; empty where nobody knows.
    time : int or None
        Milliseconds since 1970.
    reply_to : str
        The id of the post that it answers; empty where it answers none.
    repost : bool
        Whether it only repeats another post.
    """

    id: str
    text: str
    user: str = ""
    time: int | None = None
    reply_to: str = ""
    repost: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Posts:
    """Posts that were read together, a column for each attribute of `Post`: an object for each of
    them would take longer than reading them. Times that nobody knows are `NO_TIME`.
    """

    ids: Texts
    texts: Texts
    users: Texts
    times: Ints
    reply_tos: Texts
    reposts: Bools

    @classmethod
    def of(cls, posts: Sequence[Post]) -> Posts:
        """Posts one by one."""
        return cls(*post_columns([_listed(posts)]))

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Post]:
        names = (column.strings() for column in (self.ids, self.texts, self.users))
        times = [None if time == NO_TIME else time for time in self.times.tolist()]
        return map(Post, *names, times, self.reply_tos.strings(), self.reposts.tolist())

    @property
    def size(self) -> int:
        """About how many bytes of memory they take."""
        columns = (self.ids, self.texts, self.users, self.reply_tos)
        buffers = {id(one.data): len(one.data) for one in columns}
        return sum(buffers.values()) + _POST_BYTES * len(self)


def _listed(posts: Sequence[Post]) -> PostLists:
    return (
        [post.id for post in posts],
        [post.text for post in posts],
        [post.user for post in posts],
        [post.time for post in posts],
        [post.reply_to for post in posts],
        [post.repost for post in posts],
    )


def read_posts(
    logs: PathLike | Sequence[PathLike],
    *,
    columns: Columns | None = None,
    report: Report = fail,
) -> Iterator[Post]:
    r"""Yield the posts of log files, one after the other.

    Parameters
    ----------
    logs
        Files, folders, patterns or URLs of JSON Lines, TSV (a line that names the columns, then
        cells with tab, line end and backslash spelt ``\t``, ``\n``, ``\r``, ``\\``) or Parquet, the
        first two also packed as ``.gz`` or ``.zst``. A row has `id`, `text` and perhaps `user`,
        `time` (see `parse_time`), `reply_to`, and `repost_of` (an id) or `repost` (yes or no).
    columns
        What the logs call these, where it is something else, such as ``{"user": "author.name"}``;
        with dots, a value inside a value.
    report
        Called for each row that cannot be used; when it returns, the row is left out.
    """
    names = named(columns)
    for file in find_logs(logs):
        layout = layout_of(file, names)
        if layout not in ("posts", None):
            raise WrongColumns(Problem(f"holds {layout}, not posts", file=file.name))
        for block in read_post_blocks(file, names, report):
            yield from block


def read_post_blocks(
    file: FoundFile, columns: Columns, report: Report, advance: Advance | None = None
) -> Iterator[Posts]:
    """Yield the posts of a file, thousands at once."""
    joined = PostColumns()
    for found in _read(file, columns, report, advance):
        if joined.posts and not joined.takes(found):
            yield Posts(*joined.take())
            joined = PostColumns()
        joined.add(found)
        if joined.posts >= _BLOCK and not isinstance(found, ScannedPosts):
            yield Posts(*joined.take())
            joined = PostColumns()
    if joined.posts:
        yield Posts(*joined.take())


def _read(
    file: FoundFile, columns: Columns, report: Report, advance: Advance | None
) -> Iterator[ScannedPosts | PostLists]:
    names = [columns.get(name, name) for name in POST_COLUMNS]
    one_by_one = _Checked(file, columns, report)
    if file.form == "parquet":
        for first, rows in read_row_groups(file, names, advance):
            posts = _plain_posts(list(zip(*rows, strict=True)))
            yield posts or one_by_one.posts(enumerate(rows, first))
        return
    header = read_header(file) if file.form == "tsv" else None
    many = _fast_tsv(header, names) if header is not None else _fast_jsonl(names)
    scan = PostScanner.of(names) if header is None else None
    read = line_reader(header, names)
    groups = read_line_groups(file, many, report, advance, scan)
    # What was read together has no blank line, and tells that those before it were no end.
    for line, found in filled_lines(groups, file.name, report):
        if not isinstance(found, str):
            yield found
            continue
        try:
            row = read(found)
        except ValueError as error:
            report(Problem(str(error), file=file.name, line=line))
        else:
            yield one_by_one.posts([(line, row)])


def _fast_jsonl(names: Sequence[str]) -> Callable[[Sequence[bytes]], PostLists | None]:
    bare = _bare_decoder(names)
    nested = any("." in name for name in names)

    def read(lines: Sequence[bytes]) -> PostLists | None:
        """Posts of lines, first read as if the objects held nothing else; None if in doubt."""
        rows = None if bare is None else decode_many(lines, bare)
        if rows is not None:
            return _plain_posts([list(map(get, rows)) for get in _GETTERS])
        objects = decode_many(lines, OBJECTS)
        if objects is None:
            return None
        if nested:
            return _plain_posts([[pick(one, name) for one in objects] for name in names])
        return _plain_posts([[one.get(name) for one in objects] for name in names])

    return read


def _bare_decoder(names: Sequence[str]) -> msgspec.json.Decoder[Any] | None:
    """Reads objects that hold nothing but a post; None where the names do not allow it."""
    types: dict[str, Any] = dict.fromkeys(POST_COLUMNS, Name)
    types["text"] = str | msgspec.UnsetType | None
    types["repost"] = bool | msgspec.UnsetType | None
    if any("." in name for name in names):
        return None
    try:
        struct = msgspec.defstruct(
            "BarePost",
            [(name, types[name], msgspec.UNSET) for name in POST_COLUMNS],
            rename=dict(zip(POST_COLUMNS, names, strict=True)),
            forbid_unknown_fields=True,
            gc=False,
        )
    except ValueError:  # two of the same name, or a name that JSON would escape
        return None
    return msgspec.json.Decoder(struct)


def _fast_tsv(
    header: Sequence[str], names: Sequence[str]
) -> Callable[[Sequence[bytes]], PostLists | None]:
    places = [header.index(name) if name in header else None for name in names]
    widths = {len(header)}

    def read(lines: Sequence[bytes]) -> PostLists | None:
        rows = [line.decode().removesuffix("\r").split("\t") for line in lines]
        if set(map(len, rows)) != widths or len(header) == 1:
            return None
        if any(b"\\" in line for line in lines):
            rows = [[unescape_cell(cell) or "" for cell in row] for row in rows]
        absent = [None] * len(rows)
        return _plain_posts(
            [absent if place is None else [row[place] for row in rows] for place in places]
        )

    return read


def _plain_posts(columns: Sequence[Sequence[object]]) -> PostLists | None:
    """Posts of values that are just as they should be; None where one must be looked at."""
    if not columns:
        return None
    ids, users, times, reply_tos, texts, repost_ofs, reposts = columns
    names = [plain_names(column) for column in (ids, users, reply_tos, repost_ofs)]
    made = plain_texts(texts), plain_times(times), plain_truths(reposts)
    if any(column is None for column in (*names, *made)) or "" in (names[0] or ()):
        return None
    is_repost = made[2]
    if any(names[3] or ()):
        is_repost = [of != "" or said for of, said in zip(names[3], made[2], strict=True)]  # type: ignore[arg-type]
    return names[0], made[0], names[1], made[1], names[2], is_repost  # type: ignore[return-value]


class _Checked:
    """Makes posts of rows one by one, and reports what is wrong with them."""

    def __init__(self, file: FoundFile, columns: Columns, report: Report) -> None:
        self._checker = Checker(file.name, fail)
        self._columns = columns
        self._report = report

    def posts(self, rows: Any) -> PostLists:
        made = []
        for line, row in rows:
            self._checker.line = line
            try:
                made.append(_post(row, self._checker))
            except InputError as error:  # what is wrong first: a row is left out once
                field = error.problem.field or ""
                self._report(replace(error.problem, field=self._columns.get(field, field)))
        return _listed(made)


def _post(row: Sequence[object], checker: Checker) -> Post:
    id, user, time, reply_to, text, repost_of, repost = row
    return Post(
        checked_identifier(id, "id", checker),
        checked_text(text, "text", checker),
        checker.name(user, "user"),
        checked_time(time, "time", checker),
        checker.name(reply_to, "reply_to"),
        checker.name(repost_of, "repost_of") != "" or checked_truth(repost, "repost", checker),
    )
