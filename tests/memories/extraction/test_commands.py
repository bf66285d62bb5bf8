"""Orders to the memory: remember, forget, don't mention, don't store; and what only sounds so.

Orders are absolute, so each test lists every sentence of its table that is read otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings

from foundation.text import segment
from memories.extraction.requests import commands
from memories.extraction.types import Extraction
from tests.memories.extraction.bundled_reading import contents, extract, only
from tests.memories.extraction.readings import FakeReader, statement
from tests.memories.extraction.scored import Row, missed, table

NONE = "(none)"


def asked(message: str, *flags: str) -> Extraction:
    """What is made of a message in which the reader hears nothing but these requests."""
    told = FakeReader()
    told.hears(message, flags=flags)
    return extract(message, told=told)


def verb(row: Row) -> str:
    found = commands.command(segment.simplified(row["message"]))
    return found.verb if found else ""


def remembered(row: Row) -> str:
    found = asked(row["message"], "remember").candidates
    return " | ".join(one.content for one in found if one.explicit)


def forgotten(row: Row) -> str:
    requests = asked(row["message"], "forget").forget
    return " | ".join(one.about for one in requests) if requests else NONE


def brief(row: Row) -> str:
    requests = [one for one in asked(row["message"]).forget if one.about]
    assert all(one.quote == row["message"] and not one.in_words for one in requests)
    return " | ".join(one.about for one in requests)


def mentioned(row: Row) -> str:
    wish = commands.mention_wish(row["message"])
    return row["message"][slice(*wish)] if wish else NONE


def stored(row: Row) -> str:
    return "no" if commands.asks_not_to_store(row["message"]) else "yes"


def opened(row: Row) -> str:
    seen = commands.without_openers(row["message"])
    assert len(seen) == len(row["message"])
    return seen.strip()


@pytest.mark.parametrize(
    ("subject", "result"),
    [
        ("remember", remembered),
        ("no_remember", remembered),
        ("no_remember", verb),
        ("forget", forgotten),
        ("brief", brief),
        ("no_brief", brief),
        ("mention", mentioned),
        ("store", stored),
        ("opener", opened),
    ],
)
def test_an_order_is_obeyed_and_nothing_else_is_one(
    subject: str, result: Callable[[Row], str]
) -> None:
    assert not missed(table("commands", subject), result)


def test_forgetting_that_is_not_said_to_the_memory_is_no_request() -> None:
    assert not [row for row in table("commands", "no_forget") if verb(row) == "forget"]


def test_no_real_message_is_taken_for_a_brief_request() -> None:
    folder = Path(settings.BASE_DIR) / "training" / "data" / "messages"
    rows = [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    asks = {"forget", "dont_keep_before"}  # either takes back what was said before
    wrong = [
        row["text"]
        for row in rows
        if asks.isdisjoint(row["flags"])
        and any(one.brief for one in commands.commands(row["text"]))
    ]
    assert len(rows) > 5000 and wrong == []


def test_forgot_to_tell_you_opens_what_is_learned() -> None:
    for row in table("commands", "opener"):
        if (said := row["expected"]) == row["message"]:
            continue
        told, seen = FakeReader(), commands.without_openers(row["message"])
        told.hears(row["message"], flags=["forget"])
        told.hears(seen, statement(seen, said))
        found = extract(row["message"], told=told)
        assert (only(found).content, only(found).quote, found.forget) == (said, said, ())


def test_a_wish_not_to_mention_something_is_a_standing_preference() -> None:
    for row in table("commands", "mention"):
        if row["expected"] != NONE:
            found = asked(row["message"], "forget", "dont_keep_topic", "dont_keep_before")
            assert (found.forget, found.not_to_keep) == ((), False)
            assert contents(found) == [row["expected"]]
            assert only(found).kind == "preference"
