"""Files in, checked records out, and back; Table, what every result shows itself as."""

from deltableu.io.atomic import atomic_folder, atomic_path, interrupted_copy, unwritable
from deltableu.io.checker import Checker, as_number, number_text, shown
from deltableu.io.delimited import Row, read_csv, read_tsv, write_csv, write_tsv
from deltableu.io.files import (
    PathLike,
    atomic_write,
    file_form,
    file_name,
    open_binary,
    open_text,
    read_lines,
    read_raw_lines,
    write_lines,
)
from deltableu.io.journal import Journal
from deltableu.io.jsonl import decode, decode_object, encode, read_records, write_records
from deltableu.io.new_output import check_apart, check_new_file, check_new_folder, check_work
from deltableu.io.parquet import read_rows, write_rows
from deltableu.io.problems import Heard, Report, fail
from deltableu.io.record import as_record, field_record
from deltableu.io.record_tables import record_tables
from deltableu.io.records import read_table_rows
from deltableu.io.table import Cell, Column, Table, fact_table, mark_best
from deltableu.io.table_formats import render, render_terminal, terminal_text
from deltableu.io.work_folder import WorkFolder, fingerprint
from deltableu.io.written import Interval, written

__all__ = [
    "Cell",
    "Checker",
    "Column",
    "Heard",
    "Interval",
    "Journal",
    "PathLike",
    "Report",
    "Row",
    "Table",
    "WorkFolder",
    "as_number",
    "as_record",
    "atomic_folder",
    "atomic_path",
    "atomic_write",
    "check_apart",
    "check_new_file",
    "check_new_folder",
    "check_work",
    "decode",
    "decode_object",
    "encode",
    "fact_table",
    "fail",
    "field_record",
    "file_form",
    "file_name",
    "fingerprint",
    "interrupted_copy",
    "mark_best",
    "number_text",
    "open_binary",
    "open_text",
    "read_csv",
    "read_lines",
    "read_raw_lines",
    "read_records",
    "read_rows",
    "read_table_rows",
    "read_tsv",
    "record_tables",
    "render",
    "render_terminal",
    "shown",
    "terminal_text",
    "unwritable",
    "write_csv",
    "write_lines",
    "write_records",
    "write_rows",
    "write_tsv",
    "written",
]
