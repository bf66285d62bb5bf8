"""mem0's own clients, as they are installed, against the running product: every method."""

from __future__ import annotations

import asyncio
import inspect
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from tests.live import Product
from tests.memcenter.compat.mem0_client import mem0, mem0_errors

Ask = Callable[..., Awaitable[Any]]
SAID = [
    {"role": "user", "content": "I am allergic to peanuts."},
    {"role": "assistant", "content": "Noted."},
]
# Each operator on something that is so, and on something that isn't.
FILTERS: list[tuple[dict[str, Any], bool]] = [
    ({"agent_id": {"eq": "cook"}}, True),
    ({"agent_id": {"ne": "cook"}}, False),
    ({"agent_id": {"in": ["cook", "guide"]}}, True),
    ({"run_id": {"in": ["r7"]}}, False),
    ({"created_at": {"gt": "2020-01-01"}}, True),
    ({"created_at": {"gte": "2999-01-01"}}, False),
    ({"updated_at": {"lt": "2999-01-01"}}, True),
    ({"updated_at": {"lte": "2020-01-01"}}, False),
    ({"text": {"contains": "绿茶"}}, True),
    ({"text": {"icontains": "LIKES"}}, True),
    ({"text": {"contains": "LIKES"}}, False),
    ({"app_id": "*"}, False),
    ({"agent_id": "*"}, True),
    ({"metadata": {"level": 2}}, True),
    ({"AND": [{"agent_id": "cook"}, {"metadata": {"level": 2}}]}, True),
    ({"OR": [{"run_id": "r7"}, {"agent_id": "cook"}]}, True),
    ({"NOT": [{"agent_id": "cook"}]}, False),
]


def name() -> str:
    return f"mem0-{uuid.uuid4().hex[:12]}"


def made_key(product: Product, *scopes: str, user_id: str = "") -> str:
    """One of the product's, or of a person who is there already."""
    return product.shell(
        "from ops.access import as_system\n"
        "from ops.accounts import keys, users\n"
        "with as_system():\n"
        f"    user = users.find({user_id!r}) if {user_id!r} else None\n"
        f"    print(keys.create(name='test', scopes={scopes!r}, user=user)[1])"
    ).strip()


def using(kind: str, product: Product, key: str, flow: Callable[[Ask], Awaitable[None]]) -> None:
    """Run the same calls through one of the two clients."""

    async def run() -> None:
        with httpx.Client(timeout=300) as plain:
            async with httpx.AsyncClient(timeout=300) as awaited:
                http = plain if kind == "MemoryClient" else awaited
                client = getattr(mem0, kind)(api_key=key, host=product.address, client=http)

                async def ask(method: str, *given: Any, **named: Any) -> Any:
                    answer = getattr(client, method)(*given, **named)
                    return await answer if inspect.isawaitable(answer) else answer

                await flow(ask)

    asyncio.run(run())


async def until(look: Callable[[], Awaitable[Any]]) -> Any:
    for _ in range(1_200):
        if found := await look():
            return found
        await asyncio.sleep(0.2)
    raise AssertionError("Waited in vain.")


both = pytest.mark.parametrize("kind", ["MemoryClient", "AsyncMemoryClient"])


@both
def test_what_is_said_is_learned_found_and_forgotten(kind: str, product: Product) -> None:
    who = {"user_id": name()}

    async def flow(ask: Ask) -> None:
        told = await ask("add", SAID, **who, agent_id="cook", run_id="r1", metadata={"a": 1})
        assert told["status"] == "PENDING" and told["event_id"]

        async def learned() -> Any:
            return (await ask("get_all", filters=who))["results"]

        (memory,) = await until(learned)
        assert (memory["agent_id"], memory["run_id"], memory["metadata"]) == (
            "cook",
            "r1",
            {"a": 1},
        )
        hits = (await ask("search", "Am I allergic to peanuts?", filters=who))["results"]
        assert hits[0]["id"] == memory["id"] and 0 < hits[0]["score"] <= 1
        assert (await ask("delete_all", **who))["message"]
        assert (await ask("get_all", filters=who))["count"] == 0

    using(kind, product, product.api_key, flow)


@both
def test_a_memory_is_changed_rated_exported_and_deleted(kind: str, product: Product) -> None:
    who = {"user_id": name()}

    async def flow(ask: Ask) -> None:
        (made,) = (await ask("add", "Likes 绿茶", **who, infer=False))["results"]
        assert made["event"] == "ADD" and made["memory"] == "Likes 绿茶"
        changed = await ask("update", made["id"], text="Likes 红茶", expiration_date="2999-12-31")
        assert changed["memory"] == "Likes 红茶" and changed["expiration_date"] == "2999-12-31"
        assert [one["event"] for one in await ask("history", made["id"])] == ["ADD", "UPDATE"]
        rated = await ask("feedback", made["id"], "NEGATIVE", "It was yesterday")
        assert rated["feedback"] == "NEGATIVE"
        batch = [{"memory_id": made["id"], "metadata": {"level": 3}}]
        assert "1" in (await ask("batch_update", batch))["message"]
        assert (await ask("get", made["id"]))["metadata"] == {"level": 3}
        assert (await ask("get_summary", who))["total_memories"] == 1
        export = await ask("create_memory_export", "{}", filters=who)
        found = await ask("get_memory_export", memory_export_id=export["id"])
        assert [one["id"] for one in found["memories"]] == [made["id"]]
        (other,) = (await ask("add", "Plays chess", **who, infer=False))["results"]
        assert "1" in (await ask("batch_delete", [{"memory_id": other["id"]}]))["message"]
        assert (await ask("delete", made["id"]))["message"] == "Memory deleted successfully!"
        with pytest.raises(mem0_errors.MemoryNotFoundError):
            await ask("get", made["id"])
        assert (await ask("delete_users", **who))["message"]

    using(kind, product, product.api_key, flow)


@both
def test_every_operator_of_a_filter_holds(kind: str, product: Product) -> None:
    who = {"user_id": name()}

    async def flow(ask: Ask) -> None:
        more = {"agent_id": "cook", "metadata": {"level": 2}}
        await ask("add", "Likes 绿茶", **who, **more, infer=False)
        for given, holds in FILTERS:
            wanted = {"AND": [who, given]}
            assert (await ask("get_all", filters=wanted))["count"] == int(holds), given
            found = await ask("search", "绿茶", filters=wanted, threshold=0)
            assert len(found["results"]) == int(holds), given

    using(kind, product, product.api_key, flow)


@both
def test_its_errors_become_its_exceptions(kind: str, product: Product) -> None:
    who = {"user_id": name()}
    reader = made_key(product, "read")

    async def flow(ask: Ask) -> None:
        with pytest.raises(mem0_errors.ValidationError):
            await ask("get_all", filters={**who, "colour": "red"})
        with pytest.raises(mem0_errors.ValidationError):
            await ask("add", [{"role": "nobody", "content": 3}], **who)
        with pytest.raises(mem0_errors.MemoryNotFoundError):
            await ask("get", "mem_00000000000000000000000000")
        with pytest.raises(mem0_errors.AuthenticationError):
            await ask("users")
        with pytest.raises(mem0_errors.ValidationError):
            await ask("delete_all")
        with pytest.raises(mem0_errors.MemoryQuotaExceededError):
            await ask("add", "x" * 1_100_000, **who)

    async def only_reads(ask: Ask) -> None:
        with pytest.raises(mem0_errors.AuthenticationError):
            await ask("add", "Likes tea", **who, infer=False)

    using(kind, product, product.api_key, flow)
    using(kind, product, reader, only_reads)
    with pytest.raises(ValueError, match="key"), httpx.Client() as http:
        getattr(mem0, kind)(api_key="mc_wrong", host=product.address, client=http)


@both
def test_users_are_listed_and_reset_forgets_them(kind: str, product: Product) -> None:
    """With a key that is bound to one person: the product here is shared with other tests."""
    who = {"user_id": name()}
    scopes = ("read", "write", "forget", "admin")

    async def begin(ask: Ask) -> None:
        await ask("add", "Likes tea", **who, agent_id="cook", infer=False)

    async def flow(ask: Ask) -> None:
        listed = await ask("users")
        assert {one["name"] for one in listed["results"]} >= {who["user_id"], "cook"}
        await ask("reset")

    async def after(ask: Ask) -> None:
        assert (await ask("get_all", filters=who))["count"] == 0

    using(kind, product, product.api_key, begin)
    using(kind, product, made_key(product, *scopes, user_id=who["user_id"]), flow)
    using(kind, product, product.api_key, after)
