"""Files as other tools lay them out, with the command line that imports them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.fuzz.world import Record, World

#: Paths and options of `deltableu import LAYOUT`.
Imported = tuple[list[str], dict[str, list[str]]]


class Foreign:
    """Small exports of every layout, about the same items and systems.

    Parameters
    ----------
    world
        Where the files go; each of them may be spoiled like any other.
    """

    def __init__(self, world: World) -> None:
        self.world, self.rng = world, world.rng
        self.folder = world.inputs / "export"
        self.systems = [f"sys{letter}" for letter in "AB"][: self.rng.randint(1, 2)]
        self.count = self.rng.randint(1, 4)
        self.sources = [world.text() for _ in range(self.count)]
        self.references = [world.text() for _ in range(self.count)]
        self.said = {name: [world.text() for _ in range(self.count)] for name in self.systems}

    def layouts(self) -> dict[str, Callable[[], Imported]]:
        return {
            "appraise": self.appraise,
            "dialogue": self.dialogue,
            "esa": self.esa,
            "label-studio": self.label_studio,
            "lm-eval": self.lm_eval,
            "mqm": self.mqm,
            "mtme": self.mtme,
            "mturk": self.mturk,
            "openai": self.openai,
            "prolific": self.prolific,
            "sacrebleu": self.sacrebleu,
            "sgm": self.sgm,
            "table": self.table,
            "text": self.text,
            "wmt": self.wmt,
            "wmt-da": self.wmt_da,
            "wmt-xml": self.wmt_xml,
        }

    # Parts

    def lines(self, name: str, lines: Iterable[str]) -> str:
        return str(self.world.add(self.folder / name, "lines", list(lines)))

    def records(self, name: str, records: list[Record], *forms: str) -> str:
        form = self.rng.choice(forms)
        return str(self.world.add(self.folder / f"{name}.{form}", form, records))

    def files(self) -> dict[str, list[str]]:
        """Plain texts beside ratings."""
        found = {
            "refs": [self.lines("ref.txt", self.references)],
            "systems": [self.lines(f"{name}.txt", said) for name, said in self.said.items()],
        }
        if self.rng.random() < 0.5:
            found["sources"] = [self.lines("source.txt", self.sources)]
        return found

    def outputs(self) -> list[tuple[int, str]]:
        return [(number, name) for name in self.systems for number in range(self.count)]

    def rows(self) -> list[Record]:
        return [
            {
                "item": f"q{number}",
                "system": name,
                "prediction": self.said[name][number],
                "message": self.sources[number],
                "reference": self.references[number],
            }
            for number, name in self.outputs()
        ]

    # Tables

    def table(self) -> Imported:
        rows: list[Record] = []
        for row in self.rows():
            for rater in range(self.rng.randint(1, 2)):
                rows.append({**row, "rater": f"p{rater}", "value": self.rng.randint(1, 5)})
        options: dict[str, list[str]] = {"scale": ["1-5"]}
        match self.rng.randrange(4):
            case 0:  # names of their own
                theirs = {"item": "qid", "prediction": "answer", "reference": "gold1"}
                rows = [{theirs.get(key, key): one for key, one in row.items()} for row in rows]
                options["columns"] = ["item=qid,prediction=answer,references=gold*"]
            case 1:
                rows = [{**row, "reference": f"{row['reference']}|{row['item']}"} for row in rows]
                options["separators"] = ["references=|"]
            case 2:
                rows += [{**row, "lang": "xx"} for row in rows]
                rows = [{"lang": "cs", **row} for row in rows]
                options["where"] = ["lang=cs"]
            case _:
                options["rename"] = [f"{self.systems[0]}=other"]
        return [self.records("answers", rows, "csv", "tsv", "jsonl", "parquet")], options

    def prolific(self) -> Imported:
        rows = [
            {"PROLIFIC_PID": f"p{n % 2}", **row, "score": self.rng.randint(0, 100)}
            for n, row in enumerate(self.rows())
        ]
        status = {"Started at": "2024-10-25T12:00:00Z", "Completed at": "2024-10-25T12:10:00Z"}
        export = [
            {"Submission id": f"s{n}", "Participant id": f"p{n}", "Status": "APPROVED", **status}
            for n in range(2)
        ]
        paths = [self.records("ratings", rows, "csv")]
        if self.rng.random() < 0.5:
            paths.append(self.records("prolific_export", export, "csv"))
        return paths, {"scale": ["0-100"]}

    def mturk(self) -> Imported:
        times = {
            "AcceptTime": "Tue Jan 05 10:11:12 PST 2021",
            "SubmitTime": "Tue Jan 05 10:12:00 PST 2021",
        }
        rows = [
            {
                "HITId": f"h{n}",
                "AssignmentId": f"a{n}",
                "WorkerId": f"w{n % 2}",
                "AssignmentStatus": self.rng.choice(("Approved", "Submitted")),
                **times,
                **{f"Input.{key}": value for key, value in row.items()},
                "Answer.fluency": self.rng.randint(1, 5),
                "Answer.good.1": "false",
                "Answer.good.2": "true",
            }
            for n, row in enumerate(self.rows())
        ]
        return [self.records("Batch_1_batch_results", rows, "csv")], {"scale": ["1-5"]}

    def mqm(self) -> Imported:
        rows = [
            {
                "system": name,
                "doc": "d1",
                "doc_id": "1",
                "seg_id": str(number + 1),
                "rater": "r1",
                "source": self.sources[number],
                "target": f"<v>{self.said[name][number]}</v>",
                "category": self.rng.choice(("Accuracy/Omission", "Fluency/Punctuation")),
                "severity": self.rng.choice(("Major", "Minor", "Neutral")),
            }
            for number, name in self.outputs()
        ]
        options = {"refs": [self.lines("ref.txt", self.references)]}
        return [self.records("mqm", rows, "tsv")], options

    def _appraise_rows(self, spans: bool) -> list[str]:
        rows = []
        for number, name in self.outputs():
            found = [{"start_i": 1, "end_i": 2, "severity": self.rng.choice(("major", "minor"))}]
            quoted = json.dumps(found).replace('"', '""')
            more = f'doc1#{name},False,"{quoted}",' if spans else ""
            score = self.rng.randint(0, 100)
            rows.append(f"u1,{name},{number + 1},TGT,eng,deu,{score},{more}1600000000.0,1600000005")
        return rows

    def appraise(self) -> Imported:
        return [self.lines("scores.csv", self._appraise_rows(spans=False))], self.files()

    def esa(self) -> Imported:
        return [self.lines("scores.csv", self._appraise_rows(spans=True))], self.files()

    def wmt_da(self) -> Imported:
        head = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"
        rows = ["\t".join(head.split())]
        for number, name in self.outputs():
            cells = ("h1", "w1", "cs", "en", "ad", 4, name, 10, "SYSTEM", number + 1)
            rows.append("\t".join(map(str, (*cells, self.rng.randint(0, 100), 931.0))))
        return [self.lines("ad.csv", rows)], self.files()

    # JSON

    def label_studio(self) -> Imported:
        tasks = []
        for n, row in enumerate(self.rows()):
            rating = {"rating": self.rng.randint(1, 5)}
            result = {"from_name": "good", "to_name": "x", "type": "rating", "value": rating}
            annotation = {
                "id": n,
                "completed_by": self.rng.choice((3, {"id": 5, "email": "x@y"})),
                "result": [result],
                "was_cancelled": False,
                "created_at": "2021-03-09T22:16:08+00:00",
                "lead_time": 4.0,
            }
            tasks.append({"id": n, "data": row, "annotations": [annotation]})
        path = self.world.add(self.folder / "project.json", "json", tasks)
        return [str(path)], {"scale": ["1-5"]}

    def lm_eval(self) -> Imported:
        for name in self.systems:
            samples = [
                {
                    "doc_id": number,
                    "doc": {"question": self.sources[number]},
                    "target": self.references[number],
                    "arguments": {"gen_args_0": {"arg_0": self.sources[number], "arg_1": {}}},
                    "resps": [[self.said[name][number]]],
                    "filtered_resps": [self.said[name][number]],
                    "filter": "none",
                    "metrics": ["exact_match"],
                    "doc_hash": "x",
                    "exact_match": 1.0,
                }
                for number in range(self.count)
            ]
            path = self.folder / name / "samples_sums_2024-05-01T10-00-00.jsonl"
            self.world.add(path, "jsonl", samples)
        return [str(self.rng.choice((self.folder, path)))], {}

    def openai(self) -> Imported:
        chats: list[Any] = []
        for number, name in self.outputs():
            asked = [
                {"role": "system", "content": "be kind"},
                {"role": "user", "content": self.sources[number]},
            ]
            answer = {"role": "assistant", "content": self.said[name][number]}
            ideal = [self.references[number]]
            chats.append(
                {"id": f"q{number}", "model": name, "ideal": ideal, "messages": [*asked, answer]}
            )
        return [self.records("chats", chats, "jsonl")], {}

    def dialogue(self) -> Imported:
        turns = [
            {"text": text, "responses": [self.references[number], self.world.text()]}
            for number, text in enumerate(self.sources)
        ]
        said: list[Any] = [*turns, self.world.text()]
        return [self.records("dialogues", [{"id": "x", "dialogue": said}], "jsonl")], {}

    # Markup

    def sgm(self) -> Imported:
        texts = {"src": self.sources, "ref": self.references, **self.said}
        paths = []
        for name, lines in texts.items():
            kind = {"src": "srcset", "ref": "refset"}.get(name, "tstset")
            found = [f'<{kind} setid="t" srclang="cs" trglang="en">']
            found += [f'<doc sysid="{name}" docid="d1">']
            found += [f'<seg id="{n}">{_escaped(one)}</seg>' for n, one in enumerate(lines, 1)]
            paths.append(self.lines(f"{name}.sgm", [*found, "</doc>", f"</{kind}>"]))
        return paths, {}

    def wmt_xml(self) -> Imported:
        def part(tag: str, lines: list[str]) -> list[str]:
            inside = [f'<seg id="{n}">{_escaped(one)}</seg>' for n, one in enumerate(lines, 1)]
            return [f"<{tag}><p>", *inside, f"</p></{tag.partition(' ')[0]}>"]

        found = ["<?xml version='1.0' encoding='utf-8'?>", '<dataset id="t">']
        found += ['<collection id="g">', '<doc id="d1" origlang="cs">']
        found += part('src lang="cs"', self.sources)
        found += part('ref lang="en" translator="A"', self.references)
        for name, said in self.said.items():
            found += part(f'hyp system="{name}" language="en"', said)
        return [self.lines("news.xml", [*found, "</doc></collection></dataset>"])], {}

    # Folders and plain text

    def text(self) -> Imported:
        options = self.files()
        return options.pop("systems"), options

    def wmt(self) -> Imported:
        for name, said in self.said.items():
            self.lines(f"system-outputs/cs-en/news.{name}.cs-en", said)
        self.lines("references/news-csen-ref.en", self.references)
        self.lines("source/news-csen-src.cs", self.sources)
        rows = [f"cs-en news {name} {n + 1} {self.rng.random():.3f}" for n, name in self.outputs()]
        self.lines("DA-seglevel.csv", ["LP DATA SYSTEM SID HUMAN", *rows])
        return [str(self.folder)], {"pair": ["cs-en"]}

    def mtme(self) -> Imported:
        self.lines("sources/en-de.txt", self.sources)
        self.lines("references/en-de.refA.txt", self.references)
        for name, said in self.said.items():
            self.lines(f"system-outputs/en-de/{name}.txt", said)
        self.lines("documents/en-de.docs", [f"news d{n}" for n in range(self.count)])
        rows = [f"{name}\t{self.rng.choice(('None', '-1.5', '0'))}" for _, name in self.outputs()]
        self.lines("human-scores/en-de.mqm.seg.score", rows)
        return [str(self.folder)], {"pair": ["en-de"]}

    def sacrebleu(self) -> Imported:
        self.lines("wmt99.de-en.src", self.sources)
        self.lines("wmt99.de-en.ref", self.references)
        folder: Path = self.world.inputs / "mine"
        systems = [
            str(self.world.add(folder / f"{name}.txt", "lines", said))
            for name, said in self.said.items()
        ]
        return [str(self.folder)], {"pair": ["de-en"], "systems": systems}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
