"""A secret that a message told is in nothing that is derived, exported, read or searched.

The message itself stays as it was typed, in its conversation and in the export of messages.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import pytest
from pytest_django import Settings

from memcenter.mcp import server
from memcenter.mcp.tools import TOOLS
from memories.files import daily_notes
from memories.models import DailyNote
from ops.accounts import keys
from ops.models import ApiKey, User
from ops.queue import worker
from tests.conftest import ALL_SCOPES
from tests.memcenter.rest.client import Api, answer
from tests.transfer.rich import content_of, data_of, export

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Told:
    """A message with secrets, and with something that is learned from it."""

    message: str
    secrets: tuple[str, ...]
    learned: str
    question: str
    hidden: str
    after: tuple[str, ...]


CHINESE = Told(
    "我住在青岛。我的密码是 qwzt5813ab，银行卡号 6217001180012345678。",
    ("qwzt5813ab", "6217001180012345678"),
    "青岛",
    "我的密码和银行卡号是什么？我住在哪里？",
    "[已隐去]",
    ("今天我读完了一本书，很喜欢。", "天气不错。", "我们继续吧。"),
)
ENGLISH = Told(
    "I live in Porto. My password is hunter2-Zebra9 and my card number is 4539 1488 0343 6467.",
    ("hunter2-Zebra9", "4539 1488 0343 6467", "4539148803436467"),
    "Porto",
    "What are my password and my card number, and where do I live?",
    "[redacted]",
    ("Today I finished a book and liked it.", "The weather is fine.", "Let's go on."),
)


@pytest.fixture(params=[CHINESE, ENGLISH], ids=["zh", "en"])
def told(request: pytest.FixtureRequest) -> Told:
    found: Told = request.param
    return found


@pytest.fixture
def key(alice: User) -> tuple[ApiKey, str]:
    return keys.create(name="agent", scopes=ALL_SCOPES, user=alice)


@pytest.fixture
def api(key: tuple[ApiKey, str], told: Told, settings: Settings) -> Api:
    """The secrets are told, learned from, noted and summarised as the product does it."""
    settings.WINDOW_MESSAGES, settings.SUMMARY_EVERY = 2, 2
    api = Api(key[1])
    for text in (told.message, *told.after):
        turn = {"conversation_id": "c1", "user_message": text, "assistant_message": "OK."}
        answer(api.post("/turns", turn), 201)
        worker.drain()
    answer(api.post("/memory/flush", {"conversation_id": "c1"}))
    worker.drain()
    return api


def leaks(told: Told, places: Mapping[str, str]) -> set[str]:
    return {name for name, text in places.items() if any(part in text for part in told.secrets)}


@pytest.mark.usefixtures("api")
def test_an_export_holds_a_told_secret_in_its_message_only(alice: User, told: Told) -> None:
    rows: dict[str, Any] = data_of(export(alice))["data"]
    kinds = {name: orjson.dumps(found).decode() for name, found in rows.items()}
    assert {"summary", "episode", "memory", "memoryversion", "source"} <= kinds.keys()
    assert told.learned in kinds["memory"]
    assert leaks(told, kinds) == {"message"}
    with zipfile.ZipFile(io.BytesIO(content_of(export(alice, format="zip")))) as packed:
        pages = {one: packed.read(one).decode() for one in packed.namelist()}
    del pages["memory-center.json"]  # the same rows
    typed = {name for name, text in pages.items() if text.count(told.message) == 1}
    assert {name.partition("/")[0] for name in typed} == {"conversations"} and len(typed) == 2
    assert all(told.hidden in pages[name] for name in typed)  # in the summary above the messages
    assert told.learned in pages["about-you.md"] and told.learned in pages["memories.md"]
    derived = {name: text.replace(told.message, "") for name, text in pages.items()}
    assert leaks(told, derived) == set()


def test_no_call_and_no_tool_answers_with_a_told_secret(
    api: Api, key: tuple[ApiKey, str], told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "close_old_connections", lambda: None)  # the test's own
    of, asked = {"conversation_id": "c1"}, {"message": told.question}
    places = {
        "conversations": str(answer(api.get("/conversations"))),
        "memories": str(answer(api.get("/memory/long_term"))),
        "summary": str(answer(api.get("/memory/summary", **of))),
        "episodes": str(answer(api.get("/memory/episodes", query=told.question, **of))),
        "portrait": str(answer(api.get("/memory/portrait"))),
        "week": str(answer(api.get("/memory/week"))),
        "context": str(answer(api.post("/memory/context", asked | of))),
        "context elsewhere": str(answer(api.post("/memory/context", asked))),
    }
    for path in [one["path"] for one in answer(api.get("/memory/files"))["results"]]:
        view = {"command": "view", "path": f"/memories/{path}"}
        places[f"view {path}"] = str(answer(api.post("/memory/files/tool", view)))
        places[f"read {path}"] = str(answer(api.get(f"/memory/files/{path}")))
    for query in (told.question, told.message, *told.secrets):
        places[f"search {query}"] = str(answer(api.get("/search", query=query)))
        for tool in (one for one in TOOLS if one.name in ("memory_search", "mem.search")):
            places[f"{tool.name} {query}"] = str(server.perform(tool, {"query": query}, key[0]))
    for name in ("memories", "portrait", "context", "context elsewhere", "view MEMORY.md"):
        assert told.learned in places[name]
    assert told.hidden in places["summary"] and told.hidden in places["episodes"]
    assert leaks(told, places) == set()


@pytest.mark.parametrize("is_sent_again", [False, True])
def test_a_note_of_a_message_with_a_secret_is_written_and_holds_none(
    alice: User, key: tuple[ApiKey, str], told: Told, is_sent_again: bool
) -> None:
    """The flush learns the turn before its own operation does, from the messages of either."""
    api = Api(key[1])
    turn = {"conversation_id": "c1", "user_message": told.message, "assistant_message": "OK."}
    answer(api.post("/turns" if not is_sent_again else "/conversations", turn), 201)
    messages = [{"role": "user", "content": told.message}, {"role": "assistant", "content": "OK."}]
    given = {"messages": messages} if is_sent_again else {}
    flushed = answer(api.post("/memory/flush", {"conversation_id": "c1", **given}))
    worker.drain()
    note = DailyNote.objects.get()
    assert told.learned in note.text
    places = {"note": note.text, "flush": str(flushed)}
    view = {"command": "view", "path": f"/memories/{daily_notes.path_of(note.on)}"}
    places["file"] = str(answer(api.post("/memory/files/tool", view)))
    places["search"] = str(answer(api.get("/search", query=told.message, types="note")))
    assert told.learned in places["file"] and told.learned in places["search"]
    assert leaks(told, places) == set()
