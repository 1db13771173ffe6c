"""Public data sets, each turned into a study by one command: what docs/how-to/import.md shows."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
PAGE = ROOT / "docs" / "how-to" / "import.md"
BEGIN, END = "<!-- imports: begin -->\n", "<!-- imports: end -->\n"

#: What each set is, and what to write after `deltableu import`, from the folder that holds it.
IMPORTS: dict[str, tuple[str, str]] = {
    "dstc7": (
        "DSTC7, task 2: Reddit, many references, ratings by judge",
        "table dstc7-task2-system_responses.tsv.gz dstc7-task2-gold_responses.tsv.gz "
        "dstc7-task2-context.tsv.gz dstc7-task2-human-eval-per-judge.tsv.gz --columns "
        "item=InstanceID,system=SystemID,prediction=Response,references=Reference1,"
        "message=Context,rater=JudgeID,ratings=Relevance+Informativeness --scale 1-5 "
        "--rename TeamEC=TeamCE",
    ),
    "multirefeval": (
        "DailyDialog with four references (Gupta et al. 2019)",
        "table mturk_rating_processed_output.csv --columns item=context_id,"
        "references=all_references,ratings=human_average_rating --scale 1-5 "
        "--separators 'references=tab,context=||||'",
    ),
    "multirefeval/dialogues": (
        "DailyDialog's test dialogues with five responses for every turn",
        "dialogue multireftest.jsonl.gz",
    ),
    "dailydialogpp": (
        "DailyDialog++ (Sai et al. 2020): good and bad responses as weights",
        "table dev.jsonl.gz --columns item=id,good=positive_responses,"
        "bad=adversarial_negative_responses+random_negative_responses",
    ),
    "grade": (
        "GRADE (Huang et al. 2020): plain files, line by line",
        "table --beside context=eval_data/dailydialog/transformer_generator/human_ctx.txt,"
        "prediction=eval_data/dailydialog/transformer_generator/human_hyp.txt,"
        "references=eval_data/dailydialog/transformer_generator/human_ref.txt,"
        "value=human_score/dailydialog/transformer_generator/human_score.txt "
        "--separators 'context=|||' --columns item=# --system transformer_generator",
    ),
    "fed": (
        "FED (Mehri and Eskenazi 2020): five raters in lists, no references",
        "table fed_data.json.gz --columns prediction=response,item=# --separators "
        "context=newline --without-references keep --missing empty",
    ),
    "e2e_nlg": (
        "E2E NLG challenge: a table for each system, references, sliders by worker",
        "table 'primary/*.tsv.gz' testset_w_refs.csv.gz quality.tsv.gz --columns "
        "'item=mr|MR,prediction=output,references=ref,rater=worker,value=rating' "
        "--where check=ok --missing drop",
    ),
    "webnlg2020": (
        "WebNLG+ 2020: references in a ragged table, outputs in plain text, five criteria",
        "table references-en.tsv.gz ratings-en.tsv.gz --columns rater=worker,"
        "ratings=Correctness+DataCoverage+Fluency+Relevance+TextStructure "
        "--systems 'submissions/*.en.gz' --names '{}.en' --scale 0-100",
    ),
    "novikova2017": (
        "Novikova et al. 2017: medians of people beside many metrics",
        "table emnlp_data_medians.csv.gz --columns item=#,prediction=sys_ref,message=mr,"
        "ratings=informativeness+naturalness+quality --where system=Dusek --scale 1-6 "
        "--without-references keep",
    ),
    "bartscore_nlg": (
        "SummEval (Fabbri et al. 2021): outputs and scores of 16 systems in one object",
        "table SummEval.jsonl.gz",
    ),
    "wmt15_17_daseg": (
        "WMT16 ru-en, segments with direct assessment",
        "table wmt15_17_daseg.tsv.gz --columns item=#,prediction=mt-system,message=source,"
        "ratings=human --where set=newstest2016,src=ru --system mt",
    ),
    "mlqe_multiref": (
        "MLQE et-en: two references, one score per line",
        "table --beside prediction=mt.en.gz,references=ref-1.en.gz+ref-2.en.gz,"
        "message=src.et.gz,value=DA-z.scores.gz --columns item=# --system mt",
    ),
    "graham_da": (
        "Graham et al. 2015, es-en: scores in a table, texts beside it",
        "table coling16/human-scores.es-en.csv.gz --beside prediction=coling16/sys.es-en.gz,"
        "references=coling16/ref.es-en.gz --columns item=#,ratings=HUMAN,system=:mt",
    ),
    "wmt17": (
        "WMT17 cs-en: outputs, references, segments with direct assessment",
        "wmt WMT17 --pair cs-en",
    ),
    "wmt21_da": (
        "WMT21 cs-en: direct assessment, rating by rating",
        "wmt-da humaneval/newstest2021-toen/ad-csen-good-stnd-redup.csv.gz --refs "
        "txt/references/newstest2021.cs-en.ref.A.en.gz --systems "
        "'txt/system-outputs/newstest2021.cs-en.hyp.*.en.gz' "
        "--names 'newstest2021.cs-en.hyp.{}.en'",
    ),
    "wmt18_19": ("WMT18 de-en: outputs and references", "wmt WMT18 --pair de-en"),
}


def run(name: str, output: Path | None) -> str:
    """Import a set, and give what was printed."""
    from deltableu.cli.app import main

    folder = DATA / name.partition("/")[0]
    _, command = IMPORTS[name]
    arguments = ["import", *(_absolute(one, folder) for one in shlex.split(command))]
    arguments += ["--dry-run"] if output is None else ["-o", str(output)]
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as ended:
            if ended.code:
                raise RuntimeError(f"{name}: {err.getvalue()}") from None
    return out.getvalue()


def _absolute(argument: str, folder: Path) -> str:
    """An argument, with the folder before the names of files in it."""
    parts = argument.split(",")
    if "=" in parts[0] and any((folder / one.partition("=")[2]).exists() for one in parts):
        return ",".join(
            f"{ours}={'+'.join(str(folder / file) for file in files.split('+'))}"
            for ours, _, files in (part.partition("=") for part in parts)
        )
    if not argument or argument in ("table", "wmt", "wmt-da", "dialogue"):
        return argument
    there = (folder / argument).exists() or any(folder.glob(argument))
    return str(folder / argument) if there else argument


def sections(tmp: Path) -> Iterator[str]:
    """The part of the page that shows all of them."""
    for name, (what, command) in IMPORTS.items():
        printed = run(name, tmp / name.replace("/", "-"))
        lines = [line.rstrip() for line in printed.splitlines()]
        table = "\n".join(line for line in lines if line)
        yield f"{what}:\n\n```sh elsewhere\ndeltableu import {command} -o study\n```\n\n"
        yield f"```text elsewhere\n{table}\n```\n\n"


def main() -> None:
    """Write that part."""
    from tempfile import TemporaryDirectory

    if not DATA.is_dir():
        sys.exit(f"{DATA} is not there")
    with TemporaryDirectory() as folder:
        text = "".join(sections(Path(folder)))
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + text + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
