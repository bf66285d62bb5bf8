"""Compaction: does the prompt still hold early messages of a conversation that is too long for it?

    .venv/bin/python bench/compaction.py [--people N] [--window TOKENS] [--block TOKENS] FILE…

All sessions of a LoCoMo dialogue, and all days of a MemoryBank person, are recorded in one long
conversation through the API. Then each question with marked evidence is sent to
`POST /memory/context`. A message counts as present in the prompt if it is in the window, if the
block shows its text as an episode, or if a memory in the block was learned from it (by the memory's
quote). The summary doesn't count, because its lines don't name their messages.

`--people N` takes the first N people of each MemoryBank file. Their conversations are about as long
as the product's default budget, so use a smaller budget with them.

Three prompts are compared: `window` is the window alone; `as_long` is the latest messages, up to
the token budget of window and block together; `memory` is window and block. `whole` is the share of
questions with all their evidence in the prompt; `share` is the mean share of a question's evidence.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.locomo import CATEGORIES, evidence
from bench.memorybank import MARKS
from bench.product import Product, print_result, running
from conversations.importing.formats import datasets
from conversations.importing.formats.values import ImportedMessage, ImportedPerson
from foundation.text import tokens

WINDOW_TOKENS, BLOCK_TOKENS = 2_000, 1_500  # the product's defaults
CONVERSATION = "all of it"
WAYS = ("window", "as_long", "memory")
_BEGINNING = 40  # number of leading characters of a message to look for in the block


@dataclass(frozen=True)
class Talk:
    """One person's conversation and the questions about it: (group, question, evidence ids)."""

    person: ImportedPerson
    questions: Sequence[tuple[str, str, frozenset[str]]]

    @property
    def messages(self) -> list[ImportedMessage]:
        return [
            message
            for conversation in self.person.conversations
            for message in conversation.messages
        ]


@dataclass(frozen=True)
class QuestionResult:
    group: str
    wanted: frozenset[str]
    found: Mapping[str, frozenset[str]]

    def share(self, way: str) -> float:
        return len(self.wanted & self.found[way]) / len(self.wanted)


def main(paths: Sequence[Path], *, people: int | None, window: int, block: int) -> None:
    talks = [talk for path in paths for talk in islice(read(path), people)]
    with running(MEMCENTER_WINDOW_TOKENS=str(window), MEMCENTER_BLOCK_TOKENS=str(block)) as product:
        for talk in talks:
            say(product, talk)
        settle(product, [talk.person.external_id for talk in talks])
        asked = [one for talk in talks for one in ask_all(product, talk, window + block)]
    groups = {name: figures([one for one in asked if one.group == name]) for name in _groups(asked)}
    answerable = [one for one in asked if one.group != CATEGORIES[5]]
    total = figures(answerable) | {"tokens": _mean_tokens(talks)}
    for name, row in (groups | {"all that can be answered": total}).items():
        told = "".join(f"{100 * row[f'{way}_whole']:9.1f}{100 * row[way]:7.1f}" for way in WAYS)
        print(f"{name:26}{told}{row['questions']:7}")
    print(f"{'':26}" + "".join(f"{way:>16}" for way in WAYS) + "  (whole, share) in percent")
    print_result(total | {"groups": groups})


def read(path: Path) -> Iterator[Talk]:
    raw = path.read_bytes()
    data = json.loads(raw)
    if datasets.is_locomo(data):
        [person] = datasets.read_locomo(data, report=lambda skipped: None)
        rows = [(CATEGORIES[one["category"]], one["question"], evidence(one)) for one in data["qa"]]
        yield Talk(person, [(g, q, frozenset(marks)) for g, q, marks in rows if marks])
        return
    known = json.loads(MARKS.read_text(encoding="utf-8"))["files"].get(path.name)
    if known is None or known["sha256"] != hashlib.sha256(raw).hexdigest():
        raise SystemExit(f"{path.name} isn't the file that {MARKS.name} was made for.")
    people = datasets.read_memorybank(data, report=lambda skipped: None)
    for person, row, marks in zip(people, data, known["users"], strict=True):
        pairs = zip(row["probing_questions"], marks, strict=True)
        asked = [(q, [f"{day}:{at}:query" for day, at in m]) for q, m in pairs if m is not None]
        yield Talk(person, [(f"MemoryBank {path.stem}", q, frozenset(m)) for q, m in asked])


def say(product: Product, talk: Talk) -> None:
    user = talk.person.external_id
    place = f"/conversations/{CONVERSATION.replace(' ', '%20')}/messages"
    product.post("/conversations", {"user_id": user, "conversation_id": CONVERSATION})
    for message in talk.messages:
        said = {"role": message.role, "content": message.content, "message_id": message.client_id}
        when = {"created_at": message.created_at.isoformat(), "speaker": message.speaker}
        product.post(place, {"user_id": user, **said, **when})


def settle(product: Product, users: Sequence[str]) -> None:
    """Wait until none of these users has a pending or running operation."""
    for user in users:
        for status in ("pending", "running"):
            while product.get("/memory/ops", user_id=user, status=status, limit=1)["results"]:
                time.sleep(1)


def ask_all(product: Product, talk: Talk, budget: int) -> Iterator[QuestionResult]:
    user = talk.person.external_id
    whole = {"user_id": user, "conversation_id": CONVERSATION}
    place = f"/conversations/{CONVERSATION.replace(' ', '%20')}/messages"
    marks = {one["id"]: one["external_id"].removeprefix("locomo:")
             for one in product.all(place, user_id=user)}  # fmt: skip
    texts = {one.client_id.removeprefix("locomo:"): _plain(one.content) for one in talk.messages}
    learned = dict(_learned(product, user, marks, texts))
    as_long = frozenset(_latest(talk.messages, budget))
    for group, question, wanted in talk.questions:
        if not wanted <= texts.keys():
            continue
        got = product.post("/memory/context", {**whole, "message": question})
        window = frozenset(marks[one["message_id"]] for one in got["window"])
        block = _plain(got["block"])
        known = (learned.get(one["id"], set()) for one in got["items"] if one["type"] == "memory")
        shown = {mark for mark, text in texts.items() if text[:_BEGINNING] in block}
        memory = window.union(shown, *known)
        found = {"window": window, "as_long": as_long, "memory": memory}
        yield QuestionResult(group, wanted, found)


def _learned(
    product: Product, user: str, marks: Mapping[str, str], texts: Mapping[str, str]
) -> Iterator[tuple[str, set[str]]]:
    """Yield the id of each memory, and the marks of the messages that its sources quote.

    A source without a quote counts for both messages of its turn. `marks` maps the ids of messages
    to their marks, and `texts` maps the marks to their texts.
    """
    for memory in product.all("/memory/long_term", user_id=user):
        quoted: set[str] = set()
        for source in memory["sources"]:
            quote = _plain(source["quote"] or "")
            both = (source["user_message_id"], source["assistant_message_id"])
            of_turn = {marks[message_id] for message_id in both if message_id in marks}
            quoted |= {mark for mark in of_turn if quote and quote in texts[mark]} or (
                of_turn if not quote else set()
            )
        yield memory["id"], quoted


def _latest(messages: Sequence[ImportedMessage], left: int) -> Iterator[str]:
    for message in reversed(messages):
        left -= tokens.count(message.content)
        if left < 0:
            return
        yield message.client_id.removeprefix("locomo:")


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _groups(asked: Sequence[QuestionResult]) -> list[str]:
    return sorted({one.group for one in asked})


def figures(asked: Sequence[QuestionResult]) -> dict[str, Any]:
    count = max(1, len(asked))
    means = {way: sum(question.share(way) for question in asked) / count for way in WAYS}
    whole = {
        f"{way}_whole": sum(question.share(way) == 1 for question in asked) / count for way in WAYS
    }
    return {name: round(value, 4) for name, value in (means | whole).items()} | {
        "questions": len(asked)
    }


def _mean_tokens(talks: Sequence[Talk]) -> int:
    """Return the mean length of the conversations in tokens."""
    sums = [sum(tokens.count(message.content) for message in talk.messages) for talk in talks]
    return round(sum(sums) / max(1, len(sums)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--people", type=int)
    parser.add_argument("--window", type=int, default=WINDOW_TOKENS)
    parser.add_argument("--block", type=int, default=BLOCK_TOKENS)
    given = parser.parse_args()
    main(given.files, people=given.people, window=given.window, block=given.block)
