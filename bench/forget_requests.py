"""Does "forget X" erase X and nothing else, and does an unclear request lead to a question?

    .venv/bin/python bench/forget_requests.py [FILE...] [--show]

Each row is one person with ten memories and one request, sent as `about` to `POST /memory/forget`.
`wanted` lists the memories that should be erased; `plain` says that a human would not need to ask.
The rows are in `bench/data/forget_requests`, one file per language. Their writers had not seen the
code. `to_tick` counts the wanted memories in the lists, `ticked` those of them that are preselected
for the user, and `misticked` the preselected memories that aren't wanted. `--show` prints the
failed rows, and the plain ones that led to a question, with the wanted (w), erased (e), listed (l)
and ticked (t) memories; otherwise no text is printed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.product import ROOT, Product, print_result, running

DATA = ROOT / "bench" / "data" / "forget_requests"
_FILL = """
import json
from memories.models import Origin
from memories.indexing import search_index
from memories.writing import memory_writes
from memories.writing.memory_writes import Draft, SourceInput
from ops.access import as_user
from ops.accounts import users
made = {{}}
for name, texts in json.load(open({path!r}, encoding="utf-8")).items():
    user = users.find_or_create(name)
    vectors = search_index.embed(texts)
    with as_user(user):
        made[name] = [
            memory_writes.create(
                Draft(text, "fact", vectors[place : place + 1], origin=Origin.API),
                user=user, source=SourceInput(Origin.API),
            ).public_id
            for place, text in enumerate(texts)
        ]
print("\\n" + json.dumps(made))
"""
# `POST /memory/forget` doesn't say which memories are preselected.
_TICKED = """
import json
from memories.forgetting import spoken_requests
from ops.access import as_user
from ops.accounts import users
ticked = {{}}
for name, request in json.load(open({path!r}, encoding="utf-8")).items():
    user = users.find_or_create(name)
    asked = spoken_requests.requests_of_api_text(request)
    with as_user(user):
        found = spoken_requests.find(asked, user=user)
    ticked[name] = [one.public_id for one in found.memories if one.pk in found.likely]
print("\\n" + json.dumps(ticked))
"""


@dataclass(frozen=True)
class Row:
    """One person's request. `wanted` are indexes into `memories`."""

    name: str
    language: str
    memories: Sequence[str]
    request: str
    wanted: frozenset[int]
    plain: bool


@dataclass(frozen=True)
class Answered:
    """The answer to a row. The last three fields are indexes into the row's memories.

    `ticked` are the listed memories that are preselected for the user.
    """

    row: Row
    status: str
    erased: frozenset[int]
    listed: frozenset[int]
    ticked: frozenset[int]

    @property
    def kinds(self) -> Iterator[str]:
        """Yield the columns of the table in which this row counts."""
        row = self.row
        yield "requests"
        if self.erased - row.wanted:
            yield "wrong"
        if self.status == "needs_choice":
            yield "asked"
        if row.wanted - self.erased - self.listed:
            yield "missed"
        if row.plain:
            yield "plain"
            if self.erased == row.wanted:
                yield "done"


def read(path: Path) -> list[Row]:
    language = path.stem.split("_")[-1]
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [
        Row(
            name=f"{path.stem}-{place}",
            language=language,
            memories=row["memories"],
            request=row["request"],
            wanted=frozenset(row["wanted"]),
            plain=bool(row["plain"]),
        )
        for place, row in enumerate(rows)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(DATA.glob("*.jsonl")))
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    rows = [row for path in arguments.files for row in read(path)]
    with running(MEMCENTER_RATE_LIMIT_HEAVY="100000000") as product:
        ids = _filled(product, rows)
        ticked = _run(product, _TICKED, {row.name: row.request for row in rows})
        answered = [_asked(product, row, ids[row.name], ticked[row.name]) for row in rows]
    if arguments.show:
        _print_wrong(answered)
    languages = sorted({row.language for row in rows})
    figures = {one: _figures(answered, language=one) for one in languages}
    _print_table(figures)
    print_result(figures | {"wrong": sum(one["wrong"] for one in figures.values())})


def _filled(product: Product, rows: Sequence[Row]) -> dict[str, list[str]]:
    """Write the memories through the service, because `POST /memory/long_term` merges some."""
    return _run(product, _FILL, {row.name: list(row.memories) for row in rows})


def _run(product: Product, code: str, given: dict[str, Any]) -> dict[str, list[str]]:
    """Run code that reads `given` from a file in the product's shell. Return the printed ids."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(given, file)
        file.flush()
        code = code.format(path=file.name)
        output = product.manage("shell", "--no-imports", "--command", code)
    made: dict[str, list[str]] = json.loads(output.strip().splitlines()[-1])
    return made


def _asked(product: Product, row: Row, ids: Sequence[str], ticked: Sequence[str]) -> Answered:
    body = {"scope": "memory", "user_id": row.name, "about": row.request}
    answer = product.post("/memory/forget", body)
    named = frozenset(ids.index(memory_id) for memory_id in answer["memory_ids"])
    likely = frozenset(map(ids.index, ticked))
    nothing: frozenset[int] = frozenset()
    if answer["status"] == "accepted":
        return Answered(row, answer["status"], named, nothing, nothing)
    return Answered(row, answer["status"], nothing, named, likely)


def _figures(answered: Sequence[Answered], *, language: str) -> dict[str, Any]:
    counts = Counter(
        kind for answer in answered if answer.row.language == language for kind in answer.kinds
    )
    asked = [one for one in answered if one.row.language == language and one.listed]
    requests, plain = counts["requests"], counts["plain"]
    return {
        "requests": requests,
        "wrong": counts["wrong"],
        "plain_done": round(counts["done"] / plain, 3) if plain else None,
        "asked": round(counts["asked"] / requests, 3),
        "missed": round(counts["missed"] / requests, 3),
        "to_tick": sum(len(one.row.wanted & one.listed) for one in asked),
        "ticked": sum(len(one.row.wanted & one.ticked) for one in asked),
        "misticked": sum(len(one.ticked - one.row.wanted) for one in asked),
    }


def _print_table(figures: dict[str, dict[str, Any]]) -> None:
    names = list(next(iter(figures.values())))
    print(f"{'language':10}" + "".join(f"{name:>12}" for name in names))
    for language, row in figures.items():
        print(f"{language:10}" + "".join(f"{row[name]!s:>12}" for name in names))


def _print_wrong(answered: Sequence[Answered]) -> None:
    for answer in answered:
        kinds = set(answer.kinds)
        if kinds & {"wrong", "missed"} or ("plain" in kinds and "done" not in kinds):
            print(", ".join(sorted(kinds)), "|", answer.row.request, "|", answer.status)
            for place, text in enumerate(answer.row.memories):
                sets = (answer.row.wanted, answer.erased, answer.listed, answer.ticked)
                marks = "".join(
                    mark for mark, one in zip("welt", sets, strict=True) if place in one
                )
                print(f"    {marks:4}{text}")


if __name__ == "__main__":
    main()
