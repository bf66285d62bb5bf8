"""Brief requests to forget: "forget coffee", 把车忘掉. Nothing goes before it was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.conf import settings

from memories.extraction.requests.commands import commands
from tests.memories.extraction.bundled_reading import extract
from tests.memories.extraction.readings import FakeReader

# (message, what the request is about)
BRIEF = [
    ("forget coffee", "coffee"),
    ("Please forget the house.", "the house"),
    ("the thing about the bike, forget it", "the thing about the bike"),
    ("no longer remember the allergy, the test was wrong", "the allergy"),
    ("忘掉茶", "茶"),
    ("忘掉茶。", "茶"),
    ("把车忘掉", "车"),
    ("我怕打针，这条忘掉", "我怕打针，这条"),
    ("房租多少忘了吧", "房租多少"),
]
# fmt: off
NO_REQUEST = [
    "Don't forget", "I forgot", "I forgot coffee", "forget it", "Forget about it!",
    "forget that",
    "forget everything else", "I'll never forget", "I'll never forget the house", "forget me",
    "did you forget coffee?", "We should forget the past", "Forget the past.", "forget to call",
    "forget it i've found my glasses", "Forget the second paragraph",
    "Forget the romance, just give me action", "He told me to forget the house",
    "忘了带钥匙", "别忘了", "忘了说", "我忘了", "别忘了茶", "密码忘了",
    "我把钥匙忘了", "忘记带伞了",
    "忘记密码怎么办", "把他忘掉吧", "忘掉过去", "我想忘掉他", "早就忘掉", "他把我忘掉了",
    "第三段删掉",
    "忘掉烦恼", "我都忘掉", "忘记吃药", "这个忘了", "那首歌的名字我忘了",
    "Forget the house and tell me which of these three flats near the station is the best one",
]
# fmt: on


@pytest.mark.parametrize(("message", "about"), BRIEF)
def test_a_short_message_that_asks_to_forget_is_asked_about(message: str, about: str) -> None:
    told = FakeReader()
    told.hears(message)
    (request,) = extract(message, told=told).forget
    assert (request.about, request.quote, request.in_words) == (about, message, False)


@pytest.mark.parametrize("message", NO_REQUEST)
def test_what_only_sounds_like_it_is_no_request(message: str) -> None:
    told = FakeReader()
    told.hears(message)
    assert [one for one in extract(message, told=told).forget if one.about] == []


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
        if asks.isdisjoint(row["flags"]) and any(one.brief for one in commands(row["text"]))
    ]
    assert len(rows) > 5000 and wrong == []
