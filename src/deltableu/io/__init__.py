"""Files in, checked records out, and back; Table, what every result shows itself as."""

from deltableu.io.atomic import (
    atomic_folder,
    atomic_path,
    interrupted_copy,
    scratch_folder,
    unwritable,
)
from deltableu.io.checker import Checker, as_number, number_text, shown
from deltableu.io.columns import ColumnNames, TableColumns, named_columns
from deltableu.io.contents import file_bytes
from deltableu.io.delimited import (
    Row,
    escape_cell,
    read_csv,
    read_tsv,
    tsv_lines,
    unescape_cell,
    write_csv,
    write_tsv,
    wrong_cells,
)
from deltableu.io.files import (
    BOM,
    atomic_write,
    filled_lines,
    not_utf8,
    open_binary,
    packed_bytes,
    packed_text,
    read_lines,
    read_raw_lines,
    write_lines,
)
from deltableu.io.find_files import find_files, is_log
from deltableu.io.job_lock import JobLock
from deltableu.io.journal import Journal
from deltableu.io.jsonl import (
    OBJECTS,
    decode,
    decode_many,
    decode_object,
    encode,
    read_records,
    write_records,
)
from deltableu.io.limits import MAX_LINE, MAX_UNPACKED, Limits, parse_size, size_text
from deltableu.io.memory_tables import is_frame, is_table, table_records
from deltableu.io.names import (
    PathLike,
    file_form,
    file_name,
    file_packing,
    is_standard_stream,
    is_url,
)
from deltableu.io.new_output import check_apart, check_new_file, check_new_folder, check_work
from deltableu.io.own_files import Own, was_written_here
from deltableu.io.parquet import (
    check_once,
    open_parquet,
    parquet_writer,
    read_batches,
    read_rows,
    write_rows,
)
from deltableu.io.plugins import load_offered, offered
from deltableu.io.problems import Report, SeenProblems, fail
from deltableu.io.record import as_record, field_record, json_text
from deltableu.io.record_tables import record_tables, tidy_record
from deltableu.io.records import read_table_rows, table_rows
from deltableu.io.sources import (
    BrokenFile,
    ByteSource,
    FoundFile,
    WrongColumns,
    pyarrow_for,
    unreadable,
)
from deltableu.io.table import Better, Cell, Column, Table, Tabular, fact_table, mark_best
from deltableu.io.table_formats import (
    folded,
    render,
    render_terminal,
    short_signature,
    short_signatures,
    terminal_text,
)
from deltableu.io.told_progress import TOLD, told, told_line
from deltableu.io.toml import read_toml, toml_lines, toml_string
from deltableu.io.work_folder import WorkFolder, fingerprint, holds_work
from deltableu.io.written import Interval, listed, written

__all__ = [
    "BOM",
    "MAX_LINE",
    "MAX_UNPACKED",
    "OBJECTS",
    "TOLD",
    "Better",
    "BrokenFile",
    "ByteSource",
    "Cell",
    "Checker",
    "Column",
    "ColumnNames",
    "FoundFile",
    "Interval",
    "JobLock",
    "Journal",
    "Limits",
    "Own",
    "PathLike",
    "Report",
    "Row",
    "SeenProblems",
    "Table",
    "TableColumns",
    "Tabular",
    "WorkFolder",
    "WrongColumns",
    "as_number",
    "as_record",
    "atomic_folder",
    "atomic_path",
    "atomic_write",
    "check_apart",
    "check_new_file",
    "check_new_folder",
    "check_once",
    "check_work",
    "decode",
    "decode_many",
    "decode_object",
    "encode",
    "escape_cell",
    "fact_table",
    "fail",
    "field_record",
    "file_bytes",
    "file_form",
    "file_name",
    "file_packing",
    "filled_lines",
    "find_files",
    "fingerprint",
    "folded",
    "holds_work",
    "interrupted_copy",
    "is_frame",
    "is_log",
    "is_standard_stream",
    "is_table",
    "is_url",
    "json_text",
    "listed",
    "load_offered",
    "mark_best",
    "named_columns",
    "not_utf8",
    "number_text",
    "offered",
    "open_binary",
    "open_parquet",
    "packed_bytes",
    "packed_text",
    "parquet_writer",
    "parse_size",
    "pyarrow_for",
    "read_batches",
    "read_csv",
    "read_lines",
    "read_raw_lines",
    "read_records",
    "read_rows",
    "read_table_rows",
    "read_toml",
    "read_tsv",
    "record_tables",
    "render",
    "render_terminal",
    "scratch_folder",
    "short_signature",
    "short_signatures",
    "shown",
    "size_text",
    "table_records",
    "table_rows",
    "terminal_text",
    "tidy_record",
    "told",
    "told_line",
    "toml_lines",
    "toml_string",
    "tsv_lines",
    "unescape_cell",
    "unreadable",
    "unwritable",
    "was_written_here",
    "write_csv",
    "write_lines",
    "write_records",
    "write_rows",
    "write_tsv",
    "written",
    "wrong_cells",
]
