"""kill -9 at a bad moment: nothing is lost, and nothing is there twice."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.live import Product, Server, server
from tests.scenarios.caller import Caller, until

MOST_PEOPLE = 20  # to be told of until learning is met amid its work
FOODS = ("peanuts", "shellfish", "sesame", "mustard", "honey", "lentils")

Told = tuple[Caller, list[str]]


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    """Not the shared one: it dies here. A short lease, so that another worker takes over soon."""
    with server(MEMCENTER_LEASE_SECONDS="15") as one:
        one.start()
        yield one


@pytest.fixture
def alive(own_server: Server) -> Product:
    """The server as it is after the test before."""
    return own_server.product()


def told(one: Caller) -> Told:
    """They, and their operations; nobody waits for them."""
    return one, [
        op_id
        for what in FOODS
        for op_id in one.record(f"I don't eat {what}.", conversation=what)["op_ids"]
    ]


def told_into_the_middle(product: Product, name: str) -> list[Told]:
    """One person after another, until some of it is learned and some is not.

    A person's waiting turns are learned together: of a few people, all may be learned between two
    looks.
    """
    told_of: list[Told] = []

    def in_the_middle() -> bool:
        if len(told_of) < MOST_PEOPLE:
            told_of.append(told(Caller(product, f"{name}-{len(told_of)}")))
        learned = sum(len(one.memories()) for one, _ in told_of)
        return 0 < learned < len(told_of) * len(FOODS)

    until(in_the_middle, what="some of it to be learned and some not")
    return told_of


def assert_each_learned_once(told_of: list[Told]) -> None:
    wanted = sorted(f"I don't eat {what}" for what in FOODS)
    for one, op_ids in told_of:
        one.finished(op_ids)
        assert sorted(one.memories()) == wanted
        for memory in one.get("/memory/long_term", limit=100)["results"]:
            assert memory["version"] == 1 and len(memory["sources"]) == 1
        conversations = one.get("/conversations", limit=100)["results"]
        assert [row["message_count"] for row in conversations] == [2] * len(FOODS)
        for what in FOODS:
            episodes = one.get("/memory/episodes", conversation_id=what)["results"]
            assert len(episodes) == 1


def test_a_worker_killed_while_learning_leaves_everything_learned_once(
    own_server: Server, alive: Product
) -> None:
    told_of = told_into_the_middle(alive, "worker")
    worker = own_server.pid("worker")
    assert worker is not None
    os.killpg(worker, signal.SIGKILL)  # with its children: nobody is left to finish anything
    await_another(own_server, "worker", worker)
    assert_each_learned_once(told_of)


def test_a_killed_supervisor_and_a_second_start_lose_nothing_and_double_nothing(
    own_server: Server, alive: Product
) -> None:
    told_of = told_into_the_middle(alive, "supervisor")
    own_server.kill()
    again = own_server.start()
    assert (again.login, again.password, again.api_key) == (
        alive.login,
        alive.password,
        alive.api_key,
    )
    assert_each_learned_once(told_of)


def test_killed_databases_lose_no_turn_that_was_answered(
    own_server: Server, alive: Product
) -> None:
    told_of = [told(Caller(alive, f"databases-{number}")) for number in range(2)]
    for name in ("postgres", "redis"):
        before = own_server.pid(name)
        assert before is not None
        os.kill(before, signal.SIGKILL)
        await_another(own_server, name, before)
    until(lambda: reads(told_of[0][0]), what="the product to read again")
    assert_each_learned_once(told_of)


def test_learning_that_may_not_have_reached_the_disk_is_there_once(
    own_server: Server, alive: Product
) -> None:
    """Commits of learning don't wait for the disk, and here nobody writes the log down for them:
    what no other commit took along is lost with the database, and is done again.
    """
    os.kill(part_of_postgres(own_server, "walwriter"), signal.SIGSTOP)
    told_of = told_into_the_middle(alive, "disk")
    kill_postgres(own_server)
    until(lambda: reads(told_of[0][0]), what="the product to read again")
    assert_each_learned_once(told_of)


def part_of_postgres(own_server: Server, name: str) -> int:
    """The process of the database server that has this part."""
    return next(pid for pid, told in postgres_parts(own_server).items() if name in told)


def postgres_parts(own_server: Server) -> dict[int, str]:
    """What each child of the database server calls itself; some end while they are listed."""
    server = own_server.pid("postgres")
    children = Path(f"/proc/{server}/task/{server}/children").read_text(encoding="ascii")
    found = {}
    for pid in children.split():
        with suppress(FileNotFoundError, ProcessLookupError):
            told = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
            found[int(pid)] = told
    return found


def kill_postgres(own_server: Server) -> None:
    """All of it at once, so that no part of it writes anything down; another takes its place."""
    server = own_server.pid("postgres")
    assert server is not None
    for pid in (server, *postgres_parts(own_server)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    await_another(own_server, "postgres", server)


def await_another(own_server: Server, name: str, before: int) -> None:
    until(lambda: own_server.pid(name) not in {None, before}, what=f"another {name}")


def reads(caller: Caller) -> bool:
    query = {"user_id": caller.user_id}
    return caller.ask("GET", "/conversations", query=query).status == 200
