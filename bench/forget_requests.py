"""Requests to forget: does "forget X" take X and nothing else, and is everything else asked?

    .venv/bin/python bench/forget_requests.py [FILE...] [--show]

Each row is one person with ten memories and one request, sent as `about` to `POST /memory/forget`.
`wanted` are the memories that should go, `plain` says that a person would need no question. The
rows lie in `bench/data/forget_requests`, one file a language; their writers had not seen the code.
`--show` prints the rows that went wrong, without which no text is printed.
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


@dataclass(frozen=True)
class Row:
    """One person's request; `wanted` are places among `memories`."""

    name: str
    language: str
    memories: Sequence[str]
    request: str
    wanted: frozenset[int]
    plain: bool


@dataclass(frozen=True)
class Answered:
    """`erased` and `listed` are places among the row's memories."""

    row: Row
    status: str
    erased: frozenset[int]
    listed: frozenset[int]

    @property
    def kinds(self) -> Iterator[str]:
        """Every line of the table that this row counts in."""
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
            name=f"{language}-{place}",
            language=language,
            memories=one["memories"],
            request=one["request"],
            wanted=frozenset(one["wanted"]),
            plain=bool(one["plain"]),
        )
        for place, one in enumerate(rows)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(DATA.glob("*.jsonl")))
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    rows = [row for path in arguments.files for row in read(path)]
    with running(MEMCENTER_RATE_LIMIT_HEAVY="100000000") as product:
        ids = _filled(product, rows)
        answered = [_asked(product, row, ids[row.name]) for row in rows]
    if arguments.show:
        _print_wrong(answered)
    languages = sorted({row.language for row in rows})
    figures = {one: _figures(answered, language=one) for one in languages}
    _print_table(figures)
    print_result(figures | {"wrong": sum(one["wrong"] for one in figures.values())})


def _filled(product: Product, rows: Sequence[Row]) -> dict[str, list[str]]:
    """Straight through the service: what `POST /memory/long_term` would merge stays apart."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump({row.name: list(row.memories) for row in rows}, file)
        file.flush()
        code = _FILL.format(path=file.name)
        told = product.manage("shell", "--no-imports", "--command", code)
    made: dict[str, list[str]] = json.loads(told.strip().splitlines()[-1])
    return made


def _asked(product: Product, row: Row, ids: Sequence[str]) -> Answered:
    body = {"scope": "memory", "user_id": row.name, "about": row.request}
    told = product.post("/memory/forget", body)
    named = frozenset(ids.index(one) for one in told["memory_ids"])
    gone = told["status"] == "accepted"
    nothing: frozenset[int] = frozenset()
    return Answered(row, told["status"], named if gone else nothing, nothing if gone else named)


def _figures(answered: Sequence[Answered], *, language: str) -> dict[str, Any]:
    counts = Counter(kind for one in answered if one.row.language == language for kind in one.kinds)
    requests, plain = counts["requests"], counts["plain"]
    return {
        "requests": requests,
        "wrong": counts["wrong"],
        "plain_done": round(counts["done"] / plain, 3) if plain else None,
        "asked": round(counts["asked"] / requests, 3),
        "missed": round(counts["missed"] / requests, 3),
    }


def _print_table(figures: dict[str, dict[str, Any]]) -> None:
    names = ("requests", "wrong", "plain_done", "asked", "missed")
    print(f"{'language':10}" + "".join(f"{name:>12}" for name in names))
    for language, one in figures.items():
        print(f"{language:10}" + "".join(f"{one[name]!s:>12}" for name in names))


def _print_wrong(answered: Sequence[Answered]) -> None:
    for one in answered:
        kinds = set(one.kinds)
        if "wrong" in kinds or "missed" in kinds:
            print(", ".join(sorted(kinds)), "|", one.row.request, "|", one.status)
            for place, text in enumerate(one.row.memories):
                marks = "".join(
                    mark
                    for mark, places in (
                        ("w", one.row.wanted), ("e", one.erased), ("l", one.listed),
                    )
                    if place in places
                )  # fmt: skip
                print(f"    {marks:3}{text}")


if __name__ == "__main__":
    main()
