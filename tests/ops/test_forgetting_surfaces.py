"""Who deletes and who forgets: every surface on which a memory can be taken away, line by line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from memcenter.mcp import server
from memcenter.mcp.tools import TOOLS
from memories.models import Memory, MemoryVersion
from ops.accounts import keys
from ops.models import Operation, Receipt, Status
from ops.queue import worker
from tests.conftest import ALL_SCOPES
from tests.memcenter.rest.client import Api, answer, error
from tests.ops.test_forgetting_table import Told, exists, page_of
from tests.ops.test_forgetting_table import told as told
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db

Act = Callable[[Told, str], object]


def on_page(name: str, **form: Any) -> Act:
    return lambda told, key: page_of(told.user).post(
        reverse(name, args=[told.memory.public_id]), form
    )


def on_page_in_bulk(told: Told, key: str) -> None:
    form = {"ids": [told.memory.public_id], "do": "recycle"}
    page_of(told.user).post(reverse("memory_bulk"), form)


def by_emptying_the_bin(told: Told, key: str) -> None:
    on_page("memory_delete")(told, key)
    page_of(told.user).post(reverse("bin_empty"))


def by_delete(told: Told, key: str) -> None:
    path = f"/memory/long_term/{told.memory.public_id}"
    answer(Api(key).delete(path, user_id="alice"), 202)


def by_delete_with_recycle(told: Told, key: str) -> None:
    path = f"/memory/long_term/{told.memory.public_id}"
    assert Api(key).delete(path, user_id="alice", recycle="true").status_code in (200, 202)


def in_bulk(action: str) -> Act:
    def act(told: Told, key: str) -> None:
        body = {"user_id": "alice", "ids": [told.memory.public_id], "action": action}
        assert Api(key).post("/memory/long_term/bulk", body).status_code in (200, 202)

    return act


def by_forget(told: Told, key: str) -> None:
    body = {"user_id": "alice", "scope": "memory", "memory_id": told.memory.public_id}
    answer(Api(key).post("/memory/forget", body), 202)


def by_mem0(told: Told, key: str) -> None:
    client = Client(headers={"authorization": f"Token {key}"})
    assert client.delete(f"/v1/memories/{told.memory.public_id}/").status_code in (200, 204)


def by_mem0_in_a_batch(told: Told, key: str) -> None:
    body = orjson.dumps({"memories": [{"memory_id": told.memory.public_id}]})
    client = Client(headers={"authorization": f"Token {key}"})
    assert client.delete("/v1/batch/", body, content_type="application/json").status_code == 200


def by_mcp(told: Told, key: str) -> None:
    tool = next(one for one in TOOLS if one.name == "memory_forget")
    row, _text = keys.create(name="agent", scopes=ALL_SCOPES, user=told.user)
    given = {"memory_id": told.memory.public_id}
    server.perform(tool, given, row)


ASKED = "Forget that my brother repairs church organs."


def said_on_the_page(told: Told, key: str) -> None:
    address = reverse("conversation", args=[told.conversation.public_id])
    response = page_of(told.user).post(address, {"text": ASKED})
    b"".join(getattr(response, "streaming_content", ()))


def said_in_a_turn(told: Told, key: str) -> None:
    body = {
        "user_id": "alice",
        "conversation_id": "c2",
        "user_message": ASKED,
        "assistant_message": "I will.",
    }
    answer(Api(key).post("/turns", body), 201)


def said_through_openai(told: Told, key: str) -> None:
    body = {"model": "demo", "user": "alice", "messages": [{"role": "user", "content": ASKED}]}
    client = Client(headers={"authorization": f"Bearer {key}"})
    response = client.post("/v1/chat/completions", body, content_type="application/json")
    assert response.status_code == 200, response.content


BIN: dict[str, Act] = {
    "a page's Delete": on_page("memory_delete"),
    "Delete of all that is ticked": on_page_in_bulk,
    "the API's bulk recycle": in_bulk("recycle"),
    "DELETE with recycle=true": by_delete_with_recycle,
}
FORGET: dict[str, Act] = {
    "“Forget now” on a page": on_page("memory_forget"),
    "emptying the bin": by_emptying_the_bin,
    "DELETE /memory/long_term": by_delete,
    "the API's bulk forget": in_bulk("forget"),
    "POST /memory/forget": by_forget,
    "mem0's delete": by_mem0,
    "mem0's delete of a batch": by_mem0_in_a_batch,
    "the agents' tool": by_mcp,
}
SAID: dict[str, Act] = {
    "on the page": said_on_the_page,
    "in a turn": said_in_a_turn,
    "through OpenAI's protocol": said_through_openai,
}


@pytest.mark.parametrize("line", BIN)
def test_what_goes_to_the_bin_is_kept_and_comes_back(
    told: Told, product_key: str, line: str
) -> None:
    BIN[line](told, product_key)
    worker.drain()
    assert Memory.visible.get(pk=told.memory.pk).deleted_at is not None
    assert not Operation.objects.filter(kind="forget_memory").exists()
    page_of(told.user).post(reverse("memory_restore", args=[told.memory.public_id]))
    assert Memory.objects.get(pk=told.memory.pk).content == told.memory.content


@pytest.mark.parametrize("line", FORGET)
def test_what_forgets_hides_at_once_and_erases_with_a_receipt(
    told: Told, product_key: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "close_old_connections", lambda: None)  # the test's own
    FORGET[line](told, product_key)
    assert not Memory.visible.filter(pk=told.memory.pk).exists()
    assert_erased_with_a_receipt(told.memory, told.other)
    path = f"/memory/long_term/{told.memory.public_id}"
    error(Api(product_key).get(path, user_id="alice"), 404, "not_found")


def assert_erased_with_a_receipt(gone: Memory, kept: Memory) -> None:
    worker.drain()
    assert not exists(gone) and exists(kept)
    operation = Operation.objects.get(kind="forget_memory")
    assert operation.status == Status.SUCCEEDED, operation.last_error
    assert Receipt.objects.get(operation=operation).scan["residue"] == 0


@pytest.mark.parametrize("line", SAID)
def test_forget_that_said_in_a_chat_forgets(
    told: Told, product_key: str, pairs: FakePairs, line: str
) -> None:
    pairs.means(told.other.content)
    SAID[line](told, product_key)
    assert_erased_with_a_receipt(told.other, told.memory)


def test_the_command_forgets_a_user_and_nobody_else(told: Told, mallory: Any) -> None:
    call_command("forgetuser", "alice", "--wait")
    assert not exists(told.user) and exists(mallory)
    assert Receipt.objects.get().scope == "user"


def test_the_admin_neither_deletes_nor_forgets(told: Told, admin_client: Client) -> None:
    address = f"/admin/memories/memory/{told.memory.pk}/delete/"
    assert admin_client.post(address, {"post": "yes"}).status_code in (302, 403, 404, 405)
    form = {"action": "delete_selected", "_selected_action": [told.memory.pk], "post": "yes"}
    admin_client.post("/admin/memories/memory/", form)
    assert exists(told.memory)


# What it rests on, through the API from the first word to the last.


class Chat:
    """A product's backend talking for Alice."""

    def __init__(self, key: str) -> None:
        self.api = Api(key)

    def tell(self, text: str, *, conversation: str, number: int = 1) -> dict[str, Any]:
        body = {
            "user_id": "alice",
            "conversation_id": conversation,
            "user_message": text,
            "assistant_message": "I see.",
            "user_message_id": f"u{number}",
            "assistant_message_id": f"a{number}",
        }
        response = self.api.post("/turns", body)
        assert response.status_code in (200, 201), response.content
        worker.drain()
        return dict(orjson.loads(response.content))

    def memories(self) -> list[dict[str, Any]]:
        return list(answer(self.api.get("/memory/long_term", user_id="alice"))["results"])

    def forget(self, scope: str, **what: Any) -> None:
        body = {"user_id": "alice", "scope": scope, **what}
        op_id = answer(self.api.post("/memory/forget", body), 202)["op_id"]
        worker.drain()
        operation = Operation.objects.get(public_id=op_id)
        assert operation.status == Status.SUCCEEDED, operation.last_error


def message_of(turn: dict[str, Any]) -> str:
    return str(turn.get("user_message_id") or turn["user_message"]["id"])


BERLIN, LISBON = "I live in Berlin", "I live in Lisbon now"


@pytest.fixture
def chat(product_key: str, pairs: FakePairs) -> Chat:
    pairs.says(BERLIN, LISBON, "newer")
    return Chat(product_key)


def test_a_forgotten_turn_takes_its_version_and_the_one_before_is_not_restored_by_itself(
    chat: Chat,
) -> None:
    chat.tell(f"{BERLIN}.", conversation="c1")
    later = chat.tell(f"{LISBON}.", conversation="c2")
    (memory,) = chat.memories()
    assert "Lisbon" in memory["content"]
    message = message_of(later)
    chat.forget("message", message_id=message, cascade=True)
    told = str(chat.memories())
    assert "Lisbon" not in told
    assert "Lisbon" not in str(list(MemoryVersion.everything.values("content", "candidate_text")))


def test_an_erased_version_is_refused_by_every_way_to_restore_it(chat: Chat) -> None:
    first = chat.tell(f"{BERLIN}.", conversation="c1")
    chat.tell(f"{LISBON}.", conversation="c2")
    (memory,) = chat.memories()
    message = message_of(first)
    chat.forget("message", message_id=message, cascade=True)
    (memory,) = chat.memories()
    path = f"/memory/long_term/{memory['id']}/restore"
    error(chat.api.post(path, {"user_id": "alice", "version": 1}), 409, "conflict")
    user = Memory.objects.get(public_id=memory["id"]).user
    restore = reverse("memory_restore_version", args=[memory["id"], 1])
    page_of(user).post(restore)
    assert [one["content"] for one in chat.memories()] == [memory["content"]]
    assert "Berlin" not in str(list(MemoryVersion.everything.values()))


def test_a_tombstone_stops_the_same_messages_and_lets_the_user_tell_it_anew(chat: Chat) -> None:
    chat.tell("I'm allergic to peanuts.", conversation="c1")
    (memory,) = chat.memories()
    chat.forget("memory", memory_id=memory["id"])
    chat.tell("I'm allergic to peanuts.", conversation="c1")  # the same ids: the same messages
    assert chat.memories() == []
    chat.tell("I'm allergic to peanuts.", conversation="c1", number=2)
    (anew,) = chat.memories()
    assert anew["content"] == memory["content"] and anew["id"] != memory["id"]
