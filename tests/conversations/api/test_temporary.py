from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
import redis
from django.utils import timezone

from conversations.models import Conversation, Role
from conversations.recording import temporary
from conversations.recording.turns import MessageInput
from memories.models import RecallTrace
from ops.models import IdempotencyRecord, Operation, User
from tests.factories import make_conversation, make_memory
from tests.memcenter.rest.client import Api, answer, error, refused
from tests.rows import rows_of

pytestmark = pytest.mark.django_db
TURN = {
    "conversation_id": "t1",
    "user_message": "I play chess.",
    "assistant_message": "Nice.",
    "temporary": True,
}


@pytest.fixture(autouse=True)
def empty_redis() -> Iterator[None]:
    yield
    client = temporary.client()
    for name in client.scan_iter("mc:temporary:*"):
        client.delete(name)


def said(api: Api, path: str = "/conversations/t1/messages", **query: Any) -> list[str]:
    return [one["content"] for one in answer(api.get(path, **query))["results"]]


def test_a_temporary_turn_leaves_every_table_as_it_was(alice: User, alice_key: str) -> None:
    before = rows_of(alice)
    made = answer(Api(alice_key).post("/turns", TURN), 201)
    assert made["op_ids"] == []
    assert {**rows_of(alice), "ops_apikey": []} == {**before, "ops_apikey": []}
    assert not Operation.objects.exists()


def test_a_temporary_turn_makes_nobody_appear(product_key: str) -> None:
    api = Api(product_key)
    answer(api.post("/turns", {**TURN, "user_id": "tim"}), 201)
    later = {**TURN, "user_id": "tim", "user_message": "And go."}
    del later["temporary"]
    answer(api.post("/turns", later), 201)
    assert said(api, user_id="tim") == ["I play chess.", "Nice.", "And go.", "Nice."]
    body = {"user_id": "tim", "conversation_id": "t1", "message": "What do I play?"}
    context = answer(api.post("/memory/context", body))
    assert context["request_id"] is None and len(context["window"]) == 4
    assert not User.objects.filter(external_id="tim").exists()


def test_its_messages_can_be_read_by_either_id(alice: User, alice_key: str) -> None:
    api = Api(alice_key)
    made = answer(api.post("/turns", TURN), 201)
    assert said(api) == ["I play chess.", "Nice."]
    assert said(api, f"/conversations/{made['conversation_id']}/messages") == said(api)


def test_an_unbound_key_finds_it_by_our_id(product_key: str) -> None:
    api = Api(product_key)
    made = answer(api.post("/turns", {**TURN, "user_id": "tim"}), 201)
    path = f"/conversations/{made['conversation_id']}"
    refused(api.get(path), "user_id")
    found = answer(api.get(path, user_id="tim"))
    assert found["temporary"] is True and found["user_id"] == "tim"


def test_what_follows_in_it_stays_in_it(alice: User, alice_key: str) -> None:
    api = Api(alice_key)
    made = answer(api.post("/conversations", {"conversation_id": "t1", "temporary": True}), 201)
    assert made["temporary"] is True
    plain = {name: value for name, value in TURN.items() if name != "temporary"}
    answer(api.post("/turns", plain), 201)
    answer(api.post("/conversations/t1/messages", {"role": "user", "content": "More."}), 201)
    assert said(api) == ["I play chess.", "Nice.", "More."]
    assert not Conversation.everything.exists()


def test_repeating_a_temporary_turn_changes_nothing(alice: User, alice_key: str) -> None:
    body = {**TURN, "user_message_id": "u1", "assistant_message_id": "a1"}
    api = Api(alice_key)
    first = answer(api.post("/turns", body), 201)
    assert answer(api.post("/turns", body), 200) == first
    error(api.post("/turns", {**body, "user_message": "No."}), 409, "conflict")


def test_its_answers_are_not_kept_for_repetition(alice: User, alice_key: str) -> None:
    headers = {"idempotency-key": "once"}
    answer(Api(alice_key).call("post", "/turns", TURN, headers=headers), 201)
    assert not IdempotencyRecord.objects.exists()


def test_recall_for_it_leaves_no_trace_and_counts_no_access(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Alice plays chess.", kind="constraint")
    api = Api(alice_key)
    answer(api.post("/turns", TURN), 201)
    body = {"conversation_id": "t1", "message": "Which game do I play?"}
    found = answer(api.post("/memory/context", body))
    assert "Alice plays chess." in found["block"] and found["request_id"] is None
    assert [one["content"] for one in found["window"]] == ["I play chess.", "Nice."]
    memory.refresh_from_db()
    assert memory.access_count == 0 and not RecallTrace.objects.exists()


def test_it_ends_a_day_after_it_began(alice: User, alice_key: str) -> None:
    made = answer(Api(alice_key).post("/turns", TURN), 201)
    name = f"mc:temporary:{made['conversation_id']}"
    for key in (name, f"{name}:messages"):
        assert 86_000 < temporary.client().ttl(key) <= 86_400


def test_a_later_message_does_not_lengthen_its_day(
    alice: User, alice_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = timezone.now() - timedelta(hours=20)
    with monkeypatch.context() as earlier:
        earlier.setattr(timezone, "now", lambda: began)
        made = answer(Api(alice_key).post("/turns", TURN), 201)
    answer(Api(alice_key).post("/turns", {**TURN, "user_message": "Later."}), 201)
    name = f"mc:temporary:{made['conversation_id']}"
    for key in (name, f"{name}:messages"):
        assert temporary.client().ttl(key) <= 4 * 3_600


@pytest.mark.parametrize("way", ["delete", "forget"])
def test_forgetting_it_erases_it_at_once(way: str, alice: User, alice_key: str) -> None:
    api = Api(alice_key)
    made = answer(api.post("/turns", TURN), 201)
    if way == "delete":
        accepted = answer(api.delete("/conversations/t1"), 202)
    else:
        body = {"scope": "conversation", "conversation_id": "t1"}
        accepted = answer(api.post("/memory/forget", body), 202)
    assert accepted == {"status": "accepted", "op_id": None}
    error(api.get("/conversations/t1"), 404)
    left = temporary.client().keys(f"mc:temporary:{made['conversation_id']}*")
    assert left == []


def test_clearing_it_leaves_it_empty(alice: User, alice_key: str) -> None:
    api = Api(alice_key)
    answer(api.post("/turns", TURN), 201)
    answer(api.post("/clear", {"conversation_id": "t1"}), 202)
    assert said(api) == []
    assert answer(api.get("/conversations/t1"))["message_count"] == 0


def test_it_can_be_renamed(alice: User, alice_key: str) -> None:
    api = Api(alice_key)
    answer(api.post("/turns", TURN), 201)
    assert answer(api.patch("/conversations/t1", {"title": "Chess"}))["title"] == "Chess"
    assert answer(api.get("/conversations/t1"))["title"] == "Chess"


def test_a_stranger_finds_nothing_of_it(alice: User, alice_key: str, mallory_key: str) -> None:
    made = answer(Api(alice_key).post("/turns", TURN), 201)
    for name in ("t1", made["conversation_id"]):
        error(Api(mallory_key).get(f"/conversations/{name}"), 404, "not_found")
        error(Api(mallory_key).get(f"/conversations/{name}/messages"), 404, "not_found")
    answer(Api(mallory_key).post("/turns", TURN), 201)
    assert said(Api(alice_key)) == ["I play chess.", "Nice."]


def test_a_kept_conversation_can_not_become_temporary(alice: User, alice_key: str) -> None:
    make_conversation(alice, external_id="t1")
    error(Api(alice_key).post("/turns", TURN), 409, "conflict")


def test_it_has_no_summary_and_no_episodes(alice: User, alice_key: str) -> None:
    api = Api(alice_key)
    answer(api.post("/turns", TURN), 201)
    error(api.get("/memory/summary", conversation_id="t1"), 404)
    error(api.get("/memory/episodes", conversation_id="t1"), 404)


def test_bad_input_is_named_here_too(alice: User, alice_key: str) -> None:
    refused(Api(alice_key).post("/turns", {**TURN, "user_message": "  "}), "user_message")
    refused(Api(alice_key).post("/turns", {**TURN, "user_message_id": "msg_x"}), "user_message_id")


def test_without_redis_it_is_unavailable(
    alice: User, alice_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = redis.Redis.from_url("redis://127.0.0.1:1/0")
    with monkeypatch.context() as without:
        without.setattr(temporary, "client", lambda: away)
        error(Api(alice_key).post("/turns", TURN), 503, "unavailable")


def test_without_redis_what_is_kept_goes_on(
    alice: User, alice_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = redis.Redis.from_url("redis://127.0.0.1:1/0")
    body = {**TURN, "temporary": False}
    with monkeypatch.context() as without:
        without.setattr(temporary, "client", lambda: away)
        answer(Api(alice_key).post("/turns", body), 201)
        context = {"conversation_id": "new", "message": "What do I play?"}
        answer(Api(alice_key).post("/memory/context", context))
        error(Api(alice_key).get("/conversations/conv_unknown"), 404)


def at_once(act: Callable[[int], object]) -> list[Any]:
    """What `act` gives to each of eight threads that begin together."""
    together = Barrier(8)

    def begin(number: int) -> object:
        together.wait()
        return act(number)

    with ThreadPoolExecutor(8) as threads:
        return list(threads.map(begin, range(8)))


def test_what_is_said_at_once_is_all_there_and_counted() -> None:
    tim = User(external_id="tim")
    thread = temporary.create(user=tim, external_id="t1")
    at_once(lambda number: temporary.append(thread, messages=(MessageInput(f"{number}"),)))
    messages = temporary.read(thread)
    assert sorted(one.content for one in messages) == [f"{number}" for number in range(8)]
    found = temporary.find(user=tim, reference="t1")
    assert found is not None and found.message_count == 8


def test_the_same_turn_sent_at_once_is_there_once() -> None:
    tim = User(external_id="tim")
    turn = (
        MessageInput("I play chess.", external_id="m1"),
        MessageInput("Nice.", external_id="m2", role=Role.ASSISTANT),
    )

    def send(_: int) -> tuple[str, list[str], bool]:
        thread = temporary.create(user=tim, external_id="t1")
        messages, repeated = temporary.append(thread, messages=turn)
        return thread.public_id, [one.public_id for one in messages], repeated

    answers = at_once(send)
    assert len({public_id for public_id, _, _ in answers}) == 1
    assert len({tuple(told) for _, told, _ in answers}) == 1
    assert sorted(repeated for _, _, repeated in answers) == [False] + [True] * 7
    found = temporary.find(user=tim, reference="t1")
    assert found is not None and found.message_count == len(temporary.read(found)) == 2


def test_a_new_title_given_meanwhile_takes_no_message_from_the_count() -> None:
    tim = User(external_id="tim")
    thread = temporary.create(user=tim, external_id="t1")
    temporary.append(thread, messages=(MessageInput("I play chess."),))
    assert temporary.rename(thread, title="Chess").message_count == 1
    assert temporary.delete_newest(thread, count=1).title == "Chess"
    assert temporary.read(thread) == []


def test_forgetting_the_person_erases_theirs_only(alice: User, mallory: User) -> None:
    temporary.create(user=alice, external_id="t1")
    temporary.create(user=mallory, external_id="t1")
    assert temporary.erase_all(alice) == 1
    assert (
        temporary.list_conversations(alice) == []
        and len(temporary.list_conversations(mallory)) == 1
    )
