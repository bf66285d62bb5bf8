"""Who does what is written down: by whom and through which surface, by ids only."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memories.models import Memory, MemoryStatus, Origin
from memories.writing import curation, review
from memories.writing.review import ReviewInput
from ops import audit_chain, audit_log
from ops.access import as_user, before_commit
from ops.accounts import keys, users
from ops.models import ApiKey, AuditEvent, Kind, Priority, User
from ops.queue import outbox, worker
from tests.factories import make_memory

pytestmark = pytest.mark.django_db


def told() -> list[tuple[str, str, str]]:
    """Without how the people of the test came to be."""
    rows = AuditEvent.objects.exclude(action="account.made").order_by("pk")
    return list(rows.values_list("action", "actor", "surface"))


def newest() -> AuditEvent:
    found = AuditEvent.objects.order_by("-pk").first()
    assert found is not None
    return found


def whole() -> str:
    """Everything that all events say."""
    return str(list(AuditEvent.objects.values()))


def test_signing_in_and_out_on_the_page_is_written_down(client: Client) -> None:
    user = users.register(username="ana", password="a pass nobody guesses")
    form = {"username": "ana", "password": "a pass nobody guesses"}
    client.post("/signin/", form)
    client.post("/signout/")
    assert told()[-2:] == [
        ("signin.succeeded", "visitor", "page"),
        ("signin.ended", "user", "page"),
    ]
    assert newest().subject == user.subject
    assert audit_chain.first_break() is None


def test_a_refused_sign_in_names_the_account_and_never_what_was_typed(client: Client) -> None:
    user = users.register(username="ana", password="a pass nobody guesses")
    client.post("/signin/", {"username": "ana", "password": "wrong-word"})
    assert (newest().action, newest().subject) == ("signin.failed", user.subject)
    client.post("/signin/", {"username": "typed-my-secret", "password": "wrong-word"})
    assert (newest().action, newest().subject) == ("signin.failed", None)
    assert "wrong-word" not in whole() and "typed-my-secret" not in whole()


def test_a_key_is_written_down_when_made_first_used_each_day_and_revoked(alice: User) -> None:
    key, text = keys.create(name="a telling name", scopes=["read"], user=alice)
    keys.authenticate(text)
    keys.authenticate(text)
    keys.revoke(key)
    keys.revoke(key)
    assert [action for action, _, _ in told()] == ["key.made", "key.used", "key.revoked"]
    rows = AuditEvent.objects.exclude(action="account.made")
    assert {one.target for one in rows} == {f"key {key.pk}"}
    assert "a telling name" not in whole() and text not in whole()


def test_changed_settings_are_named(client: Client, alice: User) -> None:
    client.force_login(alice)
    client.post("/settings/switches/longterm_enabled/", {"longterm_enabled": "off"})
    assert told()[-1] == ("settings.changed", "user", "page")
    assert newest().details == {"names": ["longterm_enabled"], "longterm_enabled": False}


@pytest.mark.parametrize(
    ("act", "action"),
    [
        (curation.disable, "memory.disabled"),
        (curation.pin, "memory.pinned"),
        (curation.unpin, "memory.unpinned"),
        (curation.recycle, "memory.deleted"),
        (curation.take_back, "memory.restored"),
    ],
)
def test_each_act_on_a_memory_is_written_down(alice: User, act: Any, action: str) -> None:
    binned = timezone.now() if act == curation.take_back else None
    memory = make_memory(alice, "Likes green tea", deleted_at=binned, purge_at=binned)
    with as_user(alice), audit_log.acting_as("user", "page"):
        act(user=alice, memory=memory)
    assert told() == [(action, "user", "page")]
    assert (newest().target, newest().subject) == (memory.public_id, alice.subject)
    assert "green tea" not in whole()


def test_an_act_that_changes_nothing_is_not_written_down(alice: User) -> None:
    memory = make_memory(alice, "Likes green tea")
    with as_user(alice):
        for act in (curation.recycle, curation.recycle, curation.take_back, curation.take_back):
            act(user=alice, memory=memory)
    assert [action for action, _, _ in told()] == ["memory.deleted", "memory.restored"]


def test_an_edit_names_the_fields_and_not_the_words(alice: User) -> None:
    memory = make_memory(alice, "Likes green tea")
    edit = curation.prepare_edit({"content": "Likes oolong"}, memory=memory, actor=Origin.USER)
    with as_user(alice):
        curation.edit(edit, user=alice, memory=memory)
    assert (newest().action, newest().details) == ("memory.edited", {"fields": ["content"]})
    assert "oolong" not in whole()


def test_many_at_once_are_one_event(alice: User) -> None:
    made = [make_memory(alice, f"Likes tea number {n}") for n in range(3)]
    ids = [one.public_id for one in made]
    with as_user(alice):
        curation.bulk(user=alice, ids=[*ids, "anything I typed"], action="pin")
    assert [action for action, _, _ in told()] == ["memory.bulk"]
    assert newest().details["action"] == "pin"
    assert sorted(newest().details["memories"]) == sorted(ids)


def test_a_review_names_what_was_decided_on(alice: User) -> None:
    memory = make_memory(alice, "Likes green tea")
    Memory.objects.filter(pk=memory.pk).update(status=MemoryStatus.CANDIDATE)
    given = [ReviewInput(memory.public_id, "accept"), ReviewInput("anything I typed", "accept")]
    with as_user(alice):
        review.confirm(user=alice, decisions=given)
    assert newest().action == "memory.confirmed"
    assert newest().details == {"decisions": {memory.public_id: "accept"}}


def test_a_call_of_the_api_is_written_down_by_its_key(
    client: Client, alice: User, alice_key: str
) -> None:
    memory = make_memory(alice, "Likes green tea")
    answer = client.delete(
        f"/api/v1/memory/long_term/{memory.public_id}",
        headers={"Authorization": f"Bearer {alice_key}"},
    )
    assert answer.status_code == 202
    key = ApiKey.objects.get(user=alice)
    assert told()[-1] == ("forget.requested", f"key {key.pk}", "api")
    assert newest().target == answer.json()["op_id"]


def test_what_the_worker_does_of_itself_is_the_workers(alice: User) -> None:
    memory = make_memory(alice, "Likes green tea")
    Memory.objects.filter(pk=memory.pk).update(deleted_at=timezone.now(), purge_at=timezone.now())
    outbox.enqueue(Kind.CLEANUP, subject=None, payload={}, priority=Priority.BULK)
    worker.drain(limit=1)
    assert ("forget.requested", "worker", "worker") in told()


def test_an_act_that_failed_leaves_no_event(alice: User) -> None:
    def fail() -> None:
        with as_user(alice):
            audit_log.record("one.thing", subject=alice.subject)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert told() == []


def test_without_a_transaction_of_ours_it_is_done_at_once() -> None:
    done: list[int] = []
    before_commit(lambda: done.append(1))
    assert done == [1]
