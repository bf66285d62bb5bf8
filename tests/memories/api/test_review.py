from typing import Any

import pytest

from memories.models import Memory, Relation
from ops.accounts import keys
from ops.models import Operation, User
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer, error, refused
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db
CONFIRM, BULK = "/memory/long_term/confirm", "/memory/long_term/bulk"


def decide(key: str, *decisions: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer(Api(key).post(CONFIRM, {"decisions": decisions}))[
        "results"
    ]
    return found


def test_candidates_are_accepted_and_rejected(alice: User, alice_key: str) -> None:
    good = make_memory(alice, "Plays chess.", status="candidate")
    bad = make_memory(alice, "Hates cheese.", status="candidate")
    found = decide(
        alice_key,
        {"id": good.public_id, "decision": "accept"},
        {"id": bad.public_id, "decision": "reject"},
        {"id": "mem_unknown", "decision": "accept"},
    )
    assert [one["result"] for one in found] == ["accepted", "rejected", "not_found"]
    assert found[0]["memory_id"] == good.public_id
    good.refresh_from_db()
    assert good.status == "active"
    assert not Memory.objects.filter(pk=bad.pk).exists()


def test_an_accepted_memory_that_conflicts_with_another_is_used_and_related_to_it(
    alice: User, alice_key: str, pairs: FakePairs
) -> None:
    leeds = make_memory(alice, "Lives in Leeds")
    york = make_memory(alice, "Lives in York", status="candidate")
    pairs.says("Lives in Leeds", "Lives in York", "contradicts")
    decide(alice_key, {"id": york.public_id, "decision": "accept"})
    york.refresh_from_db()
    assert Relation.objects.get(memory=york, kind="contradicts").other == leeds
    leeds.refresh_from_db()
    assert (york.status, york.conflicts_with, leeds.status) == ("active", None, "active")


def test_keep_new_supersedes_the_old(alice: User, alice_key: str) -> None:
    old = make_memory(alice, "Lives in Berlin.")
    new = make_memory(alice, "Lives in Paris.", status="candidate", conflicts_with=old)
    decide(alice_key, {"id": new.public_id, "decision": "keep_new"})
    old.refresh_from_db()
    assert old.status == "superseded" and old.superseded_by == new


@pytest.mark.parametrize(
    "decisions",
    [
        None,
        [],
        {},
        "accept",
        ["accept"],
        [{"id": "mem_x"}],
        [{"decision": "accept"}],
        [{"id": 7, "decision": "accept"}],
        [{"id": "mem_x", "decision": "perhaps"}],
        [{"id": "mem_x", "decision": "accept", "valid_from": "soon"}],
        [{"id": "mem_x", "decision": "accept"}] * 1_001,
    ],
)
def test_bad_decisions_are_named(decisions: object, alice: User, alice_key: str) -> None:
    refused(Api(alice_key).post(CONFIRM, {"decisions": decisions}), "decisions")


def test_a_stranger_decides_nothing(alice: User, mallory_key: str) -> None:
    candidate = make_memory(alice, "Plays chess.", status="candidate")
    found = decide(mallory_key, {"id": candidate.public_id, "decision": "reject"})
    assert [one["result"] for one in found] == ["not_found"]
    assert Memory.objects.filter(pk=candidate.pk, status="candidate").exists()


@pytest.mark.parametrize(
    ("action", "state"),
    [
        ("disable", {"status": "disabled"}),
        ("pin", {"pinned": True}),
        ("tag", {"tags": ["game"]}),
    ],
)
def test_many_are_changed_at_once(
    action: str, state: dict[str, Any], alice: User, alice_key: str
) -> None:
    rows = [make_memory(alice, f"memory {number}") for number in range(3)]
    ids = [row.public_id for row in rows[:2]]
    body = {"ids": [*ids, "mem_unknown"], "action": action, "tag": "game"}
    found = answer(Api(alice_key).post(BULK, body))["results"]
    assert [one["result"] for one in found] == ["done", "done", "not_found"]
    changed = Memory.objects.filter(user=alice, **state)
    assert {row.public_id for row in changed} == set(ids)


def test_many_go_to_the_bin_and_come_back(alice: User, alice_key: str) -> None:
    rows = [make_memory(alice, f"memory {number}") for number in range(2)]
    ids = [row.public_id for row in rows]
    api = Api(alice_key)
    answer(api.post(BULK, {"ids": ids, "action": "recycle"}))
    assert not Memory.objects.exists()
    answer(api.post(BULK, {"ids": ids, "action": "restore"}))
    assert Memory.objects.count() == 2


def test_many_are_forgotten_by_one_operation(alice: User, alice_key: str) -> None:
    rows = [make_memory(alice, f"memory {number}") for number in range(2)]
    body = {"ids": [row.public_id for row in rows], "action": "forget"}
    found = answer(Api(alice_key).post(BULK, body))
    assert Operation.objects.get(public_id=found["op_id"]).kind == "forget_memory"
    assert [one["result"] for one in found["results"]] == ["done", "done"]
    assert not Memory.objects.exists()


def test_forgetting_many_needs_the_scope(alice: User) -> None:
    memory = make_memory(alice, "Plays chess.")
    writer = keys.create(name="writer", scopes=["read", "write"], user=alice)[1]
    body = {"ids": [memory.public_id], "action": "forget"}
    error(Api(writer).post(BULK, body), 403, "not_allowed")
    assert Memory.objects.filter(pk=memory.pk).exists()


@pytest.mark.parametrize("action", ["forget", "recycle", "pin"])
def test_a_stranger_changes_nothing(action: str, alice: User, mallory_key: str) -> None:
    memory = make_memory(alice, "Plays chess.")
    body = {"ids": [memory.public_id], "action": action}
    found = answer(Api(mallory_key).post(BULK, body))
    assert found == {"results": [{"id": memory.public_id, "result": "not_found"}]}
    memory.refresh_from_db()
    assert not memory.pinned and memory.deleted_at is None and memory.hidden_at is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ids", None),
        ("ids", []),
        ("ids", "mem_x"),
        ("ids", [7]),
        ("ids", {"a": 1}),
        ("ids", ["mem_x"] * 1_001),
        ("ids", ["a\x00b"]),
        ("action", None),
        ("action", "explode"),
        ("action", 7),
        ("tag", None),
        ("tag", ""),
        ("tag", "x" * 51),
        ("tag", ["x"]),
    ],
)
def test_a_bad_field_is_named(field: str, value: object, alice: User, alice_key: str) -> None:
    body = {"ids": ["mem_x"], "action": "tag", "tag": "game", field: value}
    refused(Api(alice_key).post(BULK, body), field)


def test_tagging_needs_a_tag(alice: User, alice_key: str) -> None:
    refused(Api(alice_key).post(BULK, {"ids": ["mem_x"], "action": "tag"}), "tag")
