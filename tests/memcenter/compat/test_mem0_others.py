"""The unmodified mem0 client: entities, batches, exports, feedback, and what isn't offered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Queue
from typing import Any

import httpx
import pytest
from pytest_django import Settings

from memories.models import Memory
from ops.accounts import keys
from ops.models import User
from ops.queue import worker
from tests.conftest import ALL_SCOPES
from tests.factories import make_memory
from tests.memcenter.compat import mem0_client
from tests.memcenter.compat.mem0_client import client, mem0_errors

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_connection")]


@pytest.fixture
def mem0(product_key: str) -> Any:
    return client(product_key)


@pytest.fixture
def admin(db: None) -> Any:
    return client(keys.create(name="admin", scopes=[*ALL_SCOPES, "admin"])[1])


def test_all_entities_are_told_to_an_admin_only(
    admin: Any, mem0: Any, alice: User, alice_key: str
) -> None:
    make_memory(alice, "Likes green tea", agent_id="厨师/1")
    told = admin.users()
    kinds = [(one["type"], one["name"], one["total_memories"]) for one in told["results"]]
    assert kinds == [("agent", "厨师/1", 1), ("user", "alice", 1)]
    assert told["count"] == 2 and told["total_users"] == 1 and told["total_agents"] == 1
    for other in (mem0, client(alice_key)):
        with pytest.raises(mem0_errors.AuthenticationError):
            other.users()
        with pytest.raises(mem0_errors.AuthenticationError):
            other.reset()
    assert Memory.objects.count() == 1


def test_a_bound_admin_key_is_told_of_its_own_person_only(alice: User, mallory: User) -> None:
    make_memory(mallory, "Likes black tea", agent_id="secret-agent")
    bound = client(keys.create(name="bound", scopes=[*ALL_SCOPES, "admin"], user=alice)[1])
    assert [one["name"] for one in bound.users()["results"]] == ["alice"]


def test_an_agent_with_slashes_and_chinese_in_its_name_is_forgotten(
    mem0: Any, alice: User, mallory: User
) -> None:
    make_memory(alice, "Likes green tea", agent_id="厨师/1")
    make_memory(mallory, "Likes black tea", agent_id="厨师/1")
    make_memory(alice, "Plays chess", agent_id="厨师")
    mem0.delete_users(agent_id="厨师/1")
    assert [one.content for one in Memory.objects.all()] == ["Plays chess"]
    mem0.delete_users(agent_id="厨师/1")  # again: there is nothing left, and that is no error


def test_a_bound_key_forgets_an_agent_for_its_own_person_only(
    alice: User, mallory: User, alice_key: str
) -> None:
    make_memory(alice, "Likes green tea", agent_id="cook")
    make_memory(mallory, "Likes black tea", agent_id="cook")
    client(alice_key).delete_users(agent_id="cook")
    assert [one.content for one in Memory.objects.all()] == ["Likes black tea"]


def test_a_deleted_user_is_forgotten_wholly(mem0: Any, alice: User) -> None:
    make_memory(alice, "Likes green tea")
    mem0.delete_users(user_id="alice")
    assert mem0.get_all(filters={"user_id": "alice"})["count"] == 0
    worker.drain()
    assert not User.objects.filter(external_id="alice").exists()
    with pytest.raises(mem0_errors.MemoryNotFoundError):
        mem0.delete_users(user_id="alice")


def test_reset_forgets_everybody(admin: Any, alice: User, mallory: User) -> None:
    make_memory(alice, "Likes green tea", agent_id="cook", run_id="r1")
    make_memory(mallory, "Likes black tea", app_id="shop")
    admin.reset()
    worker.drain()
    assert not Memory.everything.exists() and admin.users()["count"] == 0


def test_reset_with_a_bound_key_ends_with_the_person(alice: User) -> None:
    make_memory(alice, "Likes green tea", agent_id="cook", run_id="r1")
    scopes = ["read", "forget", "admin"]
    bound = client(keys.create(name="bound", scopes=scopes, user=alice)[1])
    assert "successful" in bound.reset()["message"]
    assert not Memory.objects.exists()
    with pytest.raises(mem0_errors.AuthenticationError):
        bound.users()


def test_batches_change_and_forget(mem0: Any, alice: User, mallory: User) -> None:
    tea, chess = make_memory(alice, "Likes green tea"), make_memory(mallory, "Plays chess")
    changes = [
        {"memory_id": tea.public_id, "text": "Likes black tea"},
        {"memory_id": chess.public_id, "metadata": {"a": 1}},
    ]
    assert mem0.batch_update(changes)["message"] == "Successfully updated 2 memories"
    assert mem0.get(tea.public_id)["memory"] == "Likes black tea"
    assert mem0.get(chess.public_id)["metadata"] == {"a": 1}
    gone = [{"memory_id": one.public_id} for one in (tea, chess)]
    assert mem0.batch_delete(gone)["message"] == "Successfully deleted 2 memories"
    assert not Memory.objects.exists()


def test_a_batch_with_one_that_isnt_there_does_nothing(mem0: Any, alice: User) -> None:
    tea = make_memory(alice, "Likes green tea").public_id
    with pytest.raises(mem0_errors.MemoryNotFoundError):
        mem0.batch_delete([{"memory_id": tea}, {"memory_id": "mem_unknown"}])
    assert Memory.objects.count() == 1


def test_a_batch_may_name_a_memory_twice(mem0: Any, alice: User) -> None:
    tea = make_memory(alice, "Likes green tea").public_id
    mem0.batch_update(
        [{"memory_id": tea, "text": "Likes black tea"}, {"memory_id": tea, "metadata": {"a": 1}}]
    )
    found = mem0.get(tea)
    assert (found["memory"], found["metadata"]) == ("Likes black tea", {"a": 1})


def test_a_batch_with_an_invalid_change_changes_nothing(mem0: Any, alice: User) -> None:
    tea = make_memory(alice, "Likes green tea").public_id
    chess = make_memory(alice, "Plays chess").public_id
    changes = [{"memory_id": tea, "text": "Likes black tea"}, {"memory_id": chess, "text": 7}]
    with pytest.raises(mem0_errors.ValidationError):
        mem0.batch_update(changes)
    assert mem0.get(tea)["memory"] == "Likes green tea"


@pytest.mark.parametrize("wrong", [[], [{}], ["mem_1"], [{"memory_id": 1}], [{}] * 1001])
def test_a_batch_that_cant_be_read_is_refused(mem0: Any, wrong: Any) -> None:
    for call in (mem0.batch_update, mem0.batch_delete):
        with pytest.raises(mem0_errors.ValidationError):
            call(wrong)


def test_an_export_is_read_later_without_what_was_forgotten_meanwhile(
    mem0: Any, alice: User
) -> None:
    tea = make_memory(alice, "Likes green tea")
    make_memory(alice, "Plays chess")
    asked = mem0.create_memory_export("{}", filters={"user_id": "alice"})
    mem0.delete(tea.public_id)
    export = mem0.get_memory_export(memory_export_id=asked["id"])
    assert [one["memory"] for one in export["memories"]] == ["Plays chess"]
    assert mem0.get_memory_export(user_id="alice")["count"] == 1
    for unknown in ("x", asked["id"] + "x"):
        with pytest.raises(mem0_errors.MemoryNotFoundError):
            mem0.get_memory_export(memory_export_id=unknown)


def test_another_key_cant_read_with_an_export_id_what_it_couldnt_read_itself(
    mem0: Any, alice: User, mallory_key: str
) -> None:
    asked = mem0.create_memory_export("{}", user_id="alice")
    with pytest.raises(mem0_errors.MemoryNotFoundError):
        client(mallory_key).get_memory_export(memory_export_id=asked["id"])


def test_a_summary_says_what_is_known(mem0: Any, alice: User) -> None:
    make_memory(alice, "Likes green tea")
    told = mem0.get_summary({"user_id": "alice"})
    assert told == {"summary": "Likes green tea", "total_memories": 1}


def test_feedback_is_kept_and_taken_back(mem0: Any, alice: User) -> None:
    memory = make_memory(alice, "Likes green tea").public_id
    told = mem0.feedback(memory, "very_negative", "Never said so")
    assert told == {
        "id": memory,
        "feedback": "VERY_NEGATIVE",
        "feedback_reason": "Never said so",
    }
    assert Memory.objects.get().feedback == "very_negative"
    mem0.feedback(memory, None)
    assert Memory.objects.get().feedback == ""


def test_events_are_the_operations_of_a_person(mem0: Any, alice: User, mallory_key: str) -> None:
    answer = mem0.add("I like tea.", user_id="alice")
    told = mem0.client.get("/v1/events/", params={"user_id": "alice"}).json()
    assert answer["event_id"] in [one["id"] for one in told["results"]]
    stranger = client(mallory_key)
    assert stranger.client.get("/v1/events/").json()["count"] == 0
    assert stranger.client.get(f"/v1/event/{answer['event_id']}/").status_code == 404
    assert mem0.client.get("/v1/event/op_unknown/").status_code == 404


def test_too_many_calls_are_told_when_to_come_back(mem0: Any, settings: Settings) -> None:
    settings.RATE_LIMIT = 1
    with suppress(mem0_errors.RateLimitError):
        mem0.get_all(filters={"user_id": "alice"})
    with pytest.raises(mem0_errors.RateLimitError) as caught:
        mem0.get_all(filters={"user_id": "alice"})
    assert caught.value.debug_info["retry_after"] >= 1


def test_a_body_that_is_too_large_is_told_as_a_quota(mem0: Any, settings: Settings) -> None:
    settings.MAX_BODY_BYTES = 1_024
    with pytest.raises(mem0_errors.MemoryQuotaExceededError):
        mem0.add("x" * 2_000, user_id="alice")


def test_what_isnt_offered_says_so(mem0: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: mem0.get_webhooks("memcenter"),
        lambda: mem0.get_profile("alice"),
        lambda: mem0.client.patch("/api/v1/orgs/organizations/m/projects/m/").raise_for_status(),
    ]
    for call in calls:
        with pytest.raises(Exception, match=r"doesn't offer|501"):
            call()


class Desk(httpx.AsyncBaseTransport):
    """Hands each request to the test's own thread, whose connection sees the test's rows."""

    def __init__(self) -> None:
        self._waiting: Queue[tuple[httpx.Request, Future[httpx.Response]] | None] = Queue()
        self._inner = httpx.WSGITransport(app=mem0_client.app())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        return await asyncio.wrap_future(self.put(request))

    def put(self, request: httpx.Request) -> Future[httpx.Response]:
        answer: Future[httpx.Response] = Future()
        self._waiting.put((request, answer))
        return answer

    def get(self, address: str, headers: Any, **_: Any) -> httpx.Response:
        """The constructor looks at the key by a synchronous call of its own."""
        answer = self.put(httpx.Request("GET", address, headers=headers)).result()
        answer.request = httpx.Request("GET", address)
        return answer

    def serve(self, work: Future[None]) -> None:
        work.add_done_callback(lambda _: self._waiting.put(None))
        while (asked := self._waiting.get()) is not None:
            request, answer = asked
            plain = httpx.Request(
                request.method, request.url, headers=request.headers, content=request.read()
            )
            given = self._inner.handle_request(plain)
            answer.set_result(
                httpx.Response(given.status_code, headers=given.headers, content=given.read())
            )
        work.result()


def test_the_asynchronous_client_works_as_well(
    alice: User, product_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk()
    monkeypatch.setattr("mem0.client.main.requests.get", desk.get)
    with ThreadPoolExecutor(1) as pool:
        desk.serve(pool.submit(asyncio.run, _use(product_key, desk)))


async def _use(key: str, desk: Desk) -> None:
    transport = httpx.AsyncClient(transport=desk)
    async with mem0_client.mem0.AsyncMemoryClient(
        api_key=key, host=mem0_client.HOST, client=transport
    ) as one:
        who = {"user_id": "alice"}
        (stored,) = (await one.add("Likes green tea", **who, infer=False))["results"]
        assert (await one.get(stored["id"]))["memory"] == "Likes green tea"
        assert (await one.get_all(filters=who))["count"] == 1
        assert len((await one.search("tea", filters=who, threshold=0))["results"]) == 1
        await one.update(stored["id"], text="Likes black tea")
        assert len(await one.history(stored["id"])) == 2
        await one.feedback(stored["id"], "POSITIVE")
        await one.batch_update([{"memory_id": stored["id"], "metadata": {"a": 1}}])
        assert (await one.get_summary(who))["total_memories"] == 1
        export = await one.create_memory_export("{}", filters=who)
        assert (await one.get_memory_export(memory_export_id=export["id"]))["count"] == 1
        await one.batch_delete([{"memory_id": stored["id"]}])
        with pytest.raises(mem0_errors.MemoryNotFoundError):
            await one.delete(stored["id"])
        await one.delete_all(**who)
        await one.delete_users(**who)
        with pytest.raises(mem0_errors.AuthenticationError):
            await one.users()
