"""Who does what is written down: by whom and through which surface, by ids only.

Each act is done as people and programs do it: by the POST of its page, or a call of the API. Two
acts have neither: what the worker does of itself, and what is left to the end of a transaction.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memories.models import Memory, MemoryStatus
from ops import audit_chain, audit_log
from ops.access import before_commit
from ops.accounts import users
from ops.models import ApiKey, AuditEvent, Kind, Priority, User
from ops.queue import outbox, worker
from tests.conftest import key_row
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer

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


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    """Alice, signed in on the pages."""
    client.force_login(alice)
    return client


def act_on(page: Client, memory: Memory, act: str, **form: Any) -> int:
    """Send the form of a memory's page."""
    return page.post(reverse(f"memory_{act}", args=[memory.public_id]), form).status_code


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


def test_a_key_is_written_down_when_made_first_used_each_day_and_revoked(page: Client) -> None:
    made = page.post(
        reverse("api_keys"), {"name": "a telling name", "scopes": ["read"], "days": "30"}
    )
    text = made.context["made"]
    for _ in range(2):
        assert Api(text).get("/memory/settings").status_code == 200
    key = key_row(text)
    for _ in range(2):
        page.post(reverse("api_key_revoke", args=[key.pk]))
    program = f"key {key.pk}"
    assert told() == [
        ("key.made", "user", "page"),
        ("key.used", program, "api"),
        ("key.revoked", "user", "page"),
    ]
    rows = AuditEvent.objects.exclude(action="account.made")
    assert {one.target for one in rows} == {program}
    assert "a telling name" not in whole() and text not in whole()


def test_changed_settings_are_named(page: Client) -> None:
    page.post("/settings/switches/longterm_enabled/", {"longterm_enabled": "off"})
    assert told()[-1] == ("settings.changed", "user", "page")
    assert newest().details == {"names": ["longterm_enabled"], "longterm_enabled": False}


@pytest.mark.parametrize(
    ("act", "action"),
    [
        ("disable", "memory.disabled"),
        ("pin", "memory.pinned"),
        ("unpin", "memory.unpinned"),
        ("delete", "memory.deleted"),
        ("restore", "memory.restored"),
    ],
)
def test_each_act_on_a_memory_is_written_down(
    page: Client, alice: User, act: str, action: str
) -> None:
    binned = timezone.now() if act == "restore" else None
    memory = make_memory(
        alice, "Likes green tea", deleted_at=binned, purge_at=binned, pinned=act == "unpin"
    )
    assert act_on(page, memory, act) == 302
    assert told() == [(action, "user", "page")]
    assert (newest().target, newest().subject) == (memory.public_id, alice.subject)
    assert "green tea" not in whole()


def test_an_act_that_changes_nothing_is_not_written_down(page: Client, alice: User) -> None:
    memory = make_memory(alice, "Likes green tea")
    for act in ("delete", "delete", "restore", "restore"):
        act_on(page, memory, act)
    assert [action for action, _, _ in told()] == ["memory.deleted", "memory.restored"]


def test_an_edit_names_the_fields_and_not_the_words(page: Client, alice: User) -> None:
    memory = make_memory(alice, "Likes green tea")
    assert act_on(page, memory, "edit", content="Likes oolong", kind=memory.kind) == 302
    assert (newest().action, newest().details["fields"]) == ("memory.edited", ["content"])
    assert "oolong" not in whole()


def test_many_at_once_are_one_event(page: Client, alice: User) -> None:
    made = [make_memory(alice, f"Likes tea number {n}") for n in range(3)]
    ids = [one.public_id for one in made]
    page.post(reverse("memory_bulk"), {"ids": [*ids, "anything I typed"], "do": "pin"})
    assert told() == [("memory.bulk", "user", "page")]
    assert newest().details["action"] == "pin"
    assert sorted(newest().details["memories"]) == sorted(ids)


def test_a_review_names_what_was_decided_on(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Likes green tea")
    Memory.objects.filter(pk=memory.pk).update(status=MemoryStatus.CANDIDATE)
    given = [
        {"id": memory.public_id, "decision": "accept"},
        {"id": "anything I typed", "decision": "accept"},
    ]
    answer(Api(alice_key).post("/memory/long_term/confirm", {"decisions": given}))
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


def test_an_act_that_failed_leaves_no_event(
    page: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = audit_log.record

    def fail(*args: Any, **given: Any) -> None:
        record(*args, **given)
        raise RuntimeError

    memory = make_memory(alice, "Likes green tea")
    monkeypatch.setattr(audit_log, "record", fail)
    with pytest.raises(RuntimeError):
        act_on(page, memory, "pin")
    assert told() == []


def test_without_a_transaction_of_ours_it_is_done_at_once() -> None:
    done: list[int] = []
    before_commit(lambda: done.append(1))
    assert done == [1]
