"""The unmodified mem0 client: adding, finding, changing and forgetting memories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conversations.models import Conversation, Turn
from memories.models import Memory, RecallTrace
from ops.accounts import keys, users
from ops.models import User
from ops.queue import worker
from tests.factories import make_memory
from tests.memcenter.compat.mem0_client import client, mem0_errors, mem0_types
from tests.pair_reader import FakePairs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_connection")]
Call = Callable[[], Any]


@pytest.fixture
def mem0(product_key: str) -> Any:
    return client(product_key)


def texts(answer: Any) -> list[str]:
    return sorted(one["memory"] for one in answer["results"])


def of(name: str, **more: Any) -> dict[str, Any]:
    return {"user_id": name, **more}


def test_a_wrong_key_is_told_so_when_the_client_is_made(db: None) -> None:
    with pytest.raises(ValueError, match="key"):
        client("mc_wrong")


def test_a_key_of_any_scope_makes_a_client(db: None) -> None:
    for scope in ("read", "write", "forget"):
        client(keys.create(name=scope, scopes=[scope])[1])


def test_what_was_said_is_learned_and_the_event_tells_what_came_of_it(mem0: Any) -> None:
    answer = mem0.add(
        [
            {"role": "user", "content": "I am allergic to peanuts."},
            {"role": "assistant", "content": "Noted."},
        ],
        user_id="wei",
        agent_id="cook",
        run_id="r1",
        metadata={"source": "kitchen"},
        expiration_date="2999-12-31",
    )
    assert answer["status"] == "PENDING" and answer["results"] == []
    assert event(mem0, answer)["status"] == "PENDING"
    worker.drain()
    told = event(mem0, answer)
    assert told["status"] == "SUCCEEDED" and told["event_type"] == "ADD"
    (memory,) = mem0.get_all(filters=of("wei"))["results"]
    assert "peanuts" in memory["memory"] and told["results"][0]["id"] == memory["id"]
    assert (memory["agent_id"], memory["run_id"], memory["app_id"]) == ("cook", "r1", None)
    assert memory["session_id"] == "r1" and memory["user_id"] == "wei"
    assert memory["metadata"] == {"source": "kitchen"}
    assert memory["expiration_date"] == "2999-12-31"
    assert mem0.get(memory["id"]) == memory


def event(mem0: Any, answer: Any) -> Any:
    return mem0.client.get(f"/v1/event/{answer['event_id']}/").json()


@pytest.mark.parametrize(
    ("known", "status"),
    [
        (["Lives in Brno", "Plays the cello"], "forgotten"),
        (["Lives in Brno", "Lives in Brno with Ana"], "needs_choice"),
        (["Likes tea"], "nothing_found"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_the_event_tells_what_came_of_a_request_to_forget(
    mem0: Any, pairs: FakePairs, known: list[str], status: str
) -> None:
    wei = users.find_or_create("wei")
    pairs.means("Lives in Brno")
    made = [make_memory(wei, one) for one in known]
    answer = mem0.add("Forget that I live in Brno.", user_id="wei")
    worker.drain()
    told = event(mem0, answer)
    assert (told["status"], told["forget"]["status"]) == ("SUCCEEDED", status)
    listed = {"forgotten": made[:1], "needs_choice": made, "nothing_found": []}[status]
    assert set(told["forget"]["memory_ids"]) == {one.public_id for one in listed}
    assert Memory.objects.filter(user=wei).count() == len(known) - (status == "forgotten")


def test_the_event_of_a_call_with_several_turns_tells_of_all_of_them(mem0: Any) -> None:
    said = ["I am allergic to peanuts.", "I live in Hangzhou."]
    answer = mem0.add([{"role": "user", "content": one} for one in said], user_id="wei")
    worker.drain()
    told = event(mem0, answer)
    assert told["status"] == "SUCCEEDED" and len(told["results"]) == 2
    replies = Turn.objects.values_list("assistant_message__content", flat=True)
    assert list(replies) == ["…", "…"]


def test_a_call_of_each_run_is_a_conversation_of_its_own(mem0: Any) -> None:
    mem0.add("Hello.", user_id="wei", run_id="r1")
    mem0.add("Hello again.", user_id="wei", run_id="r1")
    mem0.add("Hello.", user_id="wei", run_id="r2", agent_id="a")
    kept = Conversation.objects.order_by("pk").values_list("external_id", "message_count")
    assert list(kept) == [("mem0:run=r1", 4), ("mem0:run=r2;agent=a", 2)]


def test_the_ids_may_stand_in_filters(mem0: Any) -> None:
    mem0.add("I like tea.", filters={"AND": [{"user_id": "wei"}, {"agent_id": "a"}]}, infer=False)
    (memory,) = mem0.get_all(filters=of("wei"))["results"]
    assert memory["agent_id"] == "a"


def test_without_inference_a_text_is_stored_as_it_is(mem0: Any) -> None:
    for _ in range(2):  # and again, for nothing is held against it
        answer = mem0.add("我住在杭州。", user_id="李雷", infer=False, timestamp=1700000000)
    assert answer["status"] == "SUCCEEDED"
    (result,) = answer["results"]
    assert result["event"] == "ADD" and result["data"] == {"memory": "我住在杭州。"}
    assert texts(mem0.get_all(filters=of("李雷"))) == ["我住在杭州。"] * 2
    assert Memory.objects.filter(occurred_at__year=2023).count() == 2
    assert event(mem0, answer)["results"][0]["id"] == result["id"]


@pytest.mark.parametrize("infer", [True, False])
def test_nothing_is_taken_while_memory_is_off(mem0: Any, alice: User, infer: bool) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    with pytest.raises(mem0_errors.ValidationError, match="turned off"):
        mem0.add("I like tea.", user_id="alice", infer=infer)
    assert not Memory.objects.exists() and not Turn.objects.exists()


def test_a_secret_is_refused_also_without_inference(mem0: Any) -> None:
    with pytest.raises(mem0_errors.ValidationError, match="secret"):
        mem0.add("My password is hunter2-Xk9!", user_id="wei", infer=False)
    assert not Memory.objects.exists()


def test_what_waits_for_confirmation_is_in_no_answer(mem0: Any, alice: User) -> None:
    users.change_settings(user=alice, changes={"confirm_before_remembering": True})
    mem0.add("I like tea.", user_id="alice", infer=False)
    assert mem0.get_all(filters=of("alice"))["count"] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"user_id": ""},
        {"user_id": "x" * 65},
        {"user_id": "a\nb"},
        {"user_id": "*"},
        {"user_id": "wei", "timestamp": "soon"},
        {"user_id": "wei", "expiration_date": "2026-13-01"},
        {"user_id": "wei", "metadata": ["no"]},
        {"user_id": "wei", "infer": False, "metadata": {"long": "x" * 20_000}},
    ],
    ids=str,
)
def test_an_add_that_cant_be_read_is_refused(mem0: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(mem0_errors.ValidationError):
        mem0.add("I like tea.", **wrong)
    assert not Memory.objects.exists() and not Turn.objects.exists()


@pytest.mark.parametrize("messages", [[], [{"role": "system", "content": "Be brief."}], [{}]])
def test_an_add_in_which_nobody_speaks_is_refused(mem0: Any, messages: Any) -> None:
    with pytest.raises(mem0_errors.ValidationError):
        mem0.add(messages, user_id="wei")


def test_an_agent_without_a_user_belongs_to_the_default_owner(mem0: Any) -> None:
    mem0.add("Deploys run on Tuesdays.", agent_id="ops/bot", infer=False)
    assert users.find("default").external_id == "default"
    (memory,) = mem0.get_all(filters={"agent_id": "ops/bot"})["results"]
    assert memory["user_id"] == "default"


def test_the_best_come_first_with_a_score_and_a_trace(mem0: Any, alice: User) -> None:
    make_memory(alice, "Is allergic to peanuts", agent_id="cook")
    make_memory(alice, "Plays chess on Sundays")
    found = mem0.search("food allergies peanuts", filters=of("alice"), top_k=2, threshold=0)
    first = found["results"][0]
    assert first["memory"] == "Is allergic to peanuts" and 0 < first["score"] <= 1
    assert RecallTrace.objects.filter(user=alice).count() == 1
    only = mem0.search("peanuts", filters={"AND": [of("alice"), {"agent_id": "cook"}]})
    assert texts(only) == ["Is allergic to peanuts"]
    assert mem0.search("peanuts", filters=of("alice"), threshold=1.0)["results"] == []
    assert mem0.search("peanuts", filters=of("nobody"))["results"] == []


def test_people_named_together_are_searched_one_by_one_and_merged(
    mem0: Any, alice: User, mallory: User
) -> None:
    make_memory(alice, "Likes green tea")
    make_memory(mallory, "Likes black tea")
    both = {"OR": [of("alice"), of("mallory")]}
    assert texts(mem0.search("tea", filters=both)) == ["Likes black tea", "Likes green tea"]
    found = mem0.get_all(filters={"user_id": {"in": ["alice", "mallory", "nobody"]}})
    assert [one["user_id"] for one in found["results"]] == ["mallory", "alice"]


@pytest.mark.parametrize("filters", [None, {}, {"text": "tea"}, {"user_id": "*"}])
def test_a_search_that_names_nobody_is_refused(mem0: Any, filters: Any) -> None:
    with pytest.raises(mem0_errors.ValidationError):
        mem0.search("tea", filters=filters)


def test_everybody_is_the_one_person_of_a_bound_key(alice: User, alice_key: str) -> None:
    make_memory(alice, "Likes green tea")
    assert texts(client(alice_key).get_all(filters=of("*"))) == ["Likes green tea"]


def test_pages_tell_of_their_neighbours(mem0: Any, alice: User) -> None:
    for number in range(5):
        make_memory(alice, f"Fact {number}")
    first = mem0.get_all(filters=of("alice"), page=1, page_size=2)
    assert first["count"] == 5 and texts(first) == ["Fact 3", "Fact 4"]
    assert first["previous"] is None and "page=2" in first["next"]
    last = mem0.get_all(filters=of("alice"), page=3, page_size=2)
    assert texts(last) == ["Fact 0"] and last["next"] is None and "page=2" in last["previous"]
    for wrong in ({"page": 0}, {"page_size": 201}):
        with pytest.raises(mem0_errors.ValidationError):
            mem0.get_all(filters=of("alice"), **wrong)


def test_a_change_makes_a_version_and_the_history_shows_both(mem0: Any, alice: User) -> None:
    memory = make_memory(alice, "Likes green tea")
    changed = mem0.update(memory.public_id, text="Likes black tea", metadata={"why": "asked"})
    assert changed["memory"] == "Likes black tea" and changed["metadata"] == {"why": "asked"}
    first, second = mem0.history(memory.public_id)
    assert (first["event"], first["old_memory"], first["new_memory"]) == (
        "ADD",
        None,
        "Likes green tea",
    )
    assert (second["event"], second["old_memory"], second["new_memory"]) == (
        "UPDATE",
        "Likes green tea",
        "Likes black tea",
    )


def test_a_date_of_expiry_is_set_shown_and_taken_away(mem0: Any, alice: User) -> None:
    memory = make_memory(alice, "Likes green tea")
    expired = mem0.update(memory.public_id, expiration_date="2020-02-29")
    assert expired["expiration_date"] == "2020-02-29"
    assert mem0.get_all(filters=of("alice"))["count"] == 0
    assert mem0.get_all(filters=of("alice"), show_expired=True)["count"] == 1
    assert mem0.update(memory.public_id, expiration_date=None)["expiration_date"] is None
    assert mem0.get_all(filters=of("alice"))["count"] == 1


def test_a_deleted_memory_is_forgotten_with_its_history(mem0: Any, alice: User) -> None:
    memory = make_memory(alice, "Likes green tea")
    answer = mem0.delete(memory.public_id)
    assert answer == {"message": "Memory deleted successfully!", "cascade_count": 0}
    for call in (mem0.get, mem0.history, mem0.delete):
        with pytest.raises(mem0_errors.MemoryNotFoundError):
            call(memory.public_id)
    worker.drain()
    assert not Memory.everything.exists()


def test_delete_all_forgets_what_was_said_in_the_same_name_too(mem0: Any, alice: User) -> None:
    make_memory(alice, "Likes green tea")
    mem0.add("I am allergic to peanuts.", user_id="alice", run_id="r1")
    mem0.add("I live in Hangzhou.", user_id="alice", run_id="r2")
    worker.drain()
    answer = mem0.delete_all(user_id="alice", run_id="r1")
    assert event(mem0, answer)["event_type"] == "DELETE"
    worker.drain()
    left = texts(mem0.get_all(filters=of("alice")))
    assert len(left) == 2 and not any("peanuts" in one for one in left)
    kept = Conversation.everything.values_list("external_id", flat=True)
    assert list(kept) == ["mem0:run=r2"]
    mem0.delete_all(user_id="alice")
    worker.drain()
    assert not Memory.everything.exists() and not Conversation.everything.exists()


def test_delete_all_understands_the_clients_own_way_to_write_filters(
    mem0: Any, alice: User
) -> None:
    make_memory(alice, "Likes green tea", agent_id="it's")
    make_memory(alice, "Plays chess")
    options = mem0_types.DeleteAllMemoryOptions(filters={"user_id": "alice", "agent_id": "it's"})
    mem0.delete_all(options)
    assert texts(mem0.get_all(filters=of("alice"))) == ["Plays chess"]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"user_id": ""},
        {"user_id": "*"},
        {"metadata": {"a": 1}},
        {"filters": "{}"},
        {"filters": "alice"},
        {"filters": "__import__('os')"},
        {"filters": "[" * 9000},
        {"filters": "{'who': 'alice'}"},
        {"user": "alice"},
    ],
    ids=lambda wrong: str(wrong)[:40],
)
def test_delete_all_that_names_nothing_erases_nothing(
    mem0: Any, alice: User, wrong: dict[str, Any]
) -> None:
    make_memory(alice, "Likes green tea")
    with pytest.raises(mem0_errors.ValidationError):
        mem0.delete_all(**wrong)
    assert mem0.get_all(filters=of("alice"))["count"] == 1


def test_another_persons_memory_is_not_there(alice: User, mallory_key: str) -> None:
    memory = make_memory(alice, "Likes green tea").public_id
    stranger = client(mallory_key)
    calls: list[Call] = [
        lambda: stranger.get(memory),
        lambda: stranger.history(memory),
        lambda: stranger.update(memory, text="Mallory was here"),
        lambda: stranger.delete(memory),
        lambda: stranger.feedback(memory, "NEGATIVE"),
        lambda: stranger.batch_update([{"memory_id": memory, "text": "Mallory was here"}]),
        lambda: stranger.batch_delete([{"memory_id": memory}]),
        lambda: stranger.get_all(filters=of("alice")),
        lambda: stranger.search("tea", filters={"OR": [of("alice"), of("mallory")]}),
        lambda: stranger.add("Mallory was here", user_id="alice"),
        lambda: stranger.delete_all(user_id="alice"),
        lambda: stranger.delete_users(user_id="alice"),
        lambda: stranger.get_summary(of("alice")),
        lambda: stranger.create_memory_export("{}", user_id="alice"),
        lambda: stranger.get_memory_export(user_id="alice"),
    ]
    for call in calls:
        with pytest.raises(mem0_errors.MemoryNotFoundError):
            call()
    row = Memory.objects.get()
    assert (row.content, row.feedback) == ("Likes green tea", "")


def test_a_memory_of_a_person_without_an_external_id_is_out_of_a_backends_reach(
    mem0: Any,
) -> None:
    person = users.register(username="bo", password="a-long-enough-password")
    memory = make_memory(person, "Likes green tea").public_id
    with pytest.raises(mem0_errors.MemoryNotFoundError):
        mem0.get(memory)
    own = client(keys.create(name="own", scopes=["read", "write"], user=person)[1])
    assert own.get_all(filters=of("bo"))["results"][0]["user_id"] == "bo"
    own.add("Plays chess", user_id="bo", infer=False)
    assert Memory.objects.filter(user=person).count() == 2


def test_a_key_does_only_what_its_scopes_allow(alice: User) -> None:
    memory = make_memory(alice, "Likes green tea").public_id
    reader = client(keys.create(name="reader", scopes=["read"], user=alice)[1])
    forgets: list[Call] = [
        lambda: reader.delete(memory),
        lambda: reader.delete_all(user_id="alice"),
        lambda: reader.batch_delete([{"memory_id": memory}]),
        lambda: reader.delete_users(user_id="alice"),
    ]
    writes: list[Call] = [
        lambda: reader.add("Plays chess", user_id="alice"),
        lambda: reader.update(memory, text="Plays chess"),
        lambda: reader.feedback(memory, "POSITIVE"),
        lambda: reader.create_memory_export("{}", user_id="alice"),
    ]
    for call in [*forgets, *writes]:
        with pytest.raises(mem0_errors.AuthenticationError):
            call()
    assert texts(reader.get_all(filters=of("alice"))) == ["Likes green tea"]
