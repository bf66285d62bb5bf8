"""What does the product know about people after whole conversations with them?

    .venv/bin/python bench/people.py FILE … [--show]

Each line of a file is one person (`bench/data/people/README.md`): a conversation in order, the
facts that a good friend would know at its end (`known`), and statements that must not be known
(`never`): jokes, roles, quotations, facts about other people, and statements that must not be kept
or that were corrected later. The conversation is recorded with `POST /turns`, and the product
learns from each turn before the next one is sent: extraction, arbitration, corrections, endings.

An entry is known if an active memory contains a keyword of each of the entry's groups; `reviewed`
counts other entries that a memory waiting for review contains. `harmful` are entries of `never`
that an active memory contains.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.junk_loop import record, settle
from bench.labelled import Groups, groups, print_table, says_all, share
from bench.product import Product, print_result, running


@dataclass(frozen=True)
class Person:
    voice: str
    said: tuple[tuple[str, str], ...]  # message, answer
    known: dict[str, Groups]  # in plain words -> keywords
    never: dict[str, Groups]


@dataclass(frozen=True)
class PersonResult:
    known: list[str]
    reviewed: list[str]
    harmful: list[str]
    memories: list[str]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true", help="print memories, and what is missed")
    wanted = parser.parse_args()
    people = [person for file in wanted.files for person in read(file)]
    table = {}
    with running() as product:
        for person in people:
            found = talk(product, person)
            table[person.voice] = _row(person, found)
            if wanted.show:
                _show(person, found)
    print_table(table)
    print_result({"people": {voice: list(row.values()) for voice, row in table.items()}})


def read(file: Path) -> list[Person]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
    return [
        Person(
            row["voice"],
            tuple((message, answer) for message, answer in row["said"]),
            {one["says"]: groups(one["must"]) for one in row["known"]},
            {one["says"]: groups(one["must"]) for one in row["never"]},
        )
        for row in rows
    ]


def talk(product: Product, person: Person) -> PersonResult:
    for message, answer in person.said:
        record(product, person.voice, message, answer, reference=person.voice)
        settle(product, person.voice)
    active, waiting = (
        _memories(product, person.voice, status) for status in ("active", "candidate")
    )
    known = _said(person.known, active)
    return PersonResult(
        known=known,
        reviewed=[one for one in _said(person.known, waiting) if one not in known],
        harmful=_said(person.never, active),
        memories=active,
    )


def _memories(product: Product, user: str, status: str) -> list[str]:
    rows = product.all("/memory/long_term", user_id=user, status=status)
    return [row["content"] for row in rows]


def _said(wanted: dict[str, Groups], memories: list[str]) -> list[str]:
    return [says for says, must in wanted.items() if any(says_all(m, must) for m in memories)]


def _row(person: Person, found: PersonResult) -> dict[str, float | int | None]:
    return {
        "wanted": len(person.known),
        "known": share(len(found.known), len(person.known)),
        "reviewed": len(found.reviewed),
        "never": len(person.never),
        "harmful": len(found.harmful),
        "memories": len(found.memories),
    }


def _show(person: Person, found: PersonResult) -> None:
    print(person.voice)
    for memory in found.memories:
        print(f"    {memory}")
    for says in person.known.keys() - found.known:
        print(f"    MISSED {says}{' (waits for review)' if says in found.reviewed else ''}")
    for says in found.harmful:
        print(f"    HARMFUL {says}")


if __name__ == "__main__":
    main()
