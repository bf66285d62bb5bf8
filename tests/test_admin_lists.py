"""The admin with very much in it, and before each role: every page of every model."""

from __future__ import annotations

import re

import pytest
from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories.forgetting import memory_forgets
from memories.models import EmbeddingSpace, Memory
from memories.writing import curation
from ops import audit_log
from ops.access import as_user
from ops.accounts import users
from ops.accounts.users import give_role
from ops.models import (
    ApiKey,
    Attempt,
    AttemptOutcome,
    AuditEvent,
    Kind,
    ModelCall,
    Operation,
    Receipt,
    Role,
    Status,
    User,
)
from ops.queue import outbox, worker
from tests.factories import make_memory
from tests.test_admin import SHOWN, address
from tests.whole_person import give_all

pytestmark = pytest.mark.django_db
PASSWORD = "correct-horse-battery"


def member(role: Role) -> Client:
    user = users.register(username=role.value, password=PASSWORD)
    give_role(user, role)
    client = Client()
    client.force_login(user)
    return client


def settle_down(name: str) -> User:
    """Somebody with a row in every table, and what an owner sees of it."""
    user = User.objects.create_user(external_id=name)
    give_all(user)
    now = timezone.now()
    operation = outbox.enqueue(Kind.CLEANUP, subject=user.subject, payload={})
    Attempt.objects.create(operation=operation, number=1, outcome=AttemptOutcome.FAILED)
    Receipt.objects.create(
        operation=operation, subject=user.subject, scope="memory", requested_at=now, finished_at=now
    )
    ModelCall.objects.create(step="extract", provider="p", model="m", outcome="ok")
    audit_log.record("memory.deleted", subject=user.subject, target=operation.public_id)
    return user


def statements(client: Client, page: str) -> list[str]:
    with CaptureQueriesContext(connection) as found:
        assert client.get(page).status_code == 200, page
    return [sql for one in found if "SAVEPOINT" not in (sql := one["sql"] or "SAVEPOINT")]


def reads_a_whole_table(statement: str) -> bool:
    """Counting, or gathering the values of a column, without an end to it; or joining all rows
    before the few of a page are taken: measured with 300,000 memories, 3 s instead of 6 ms."""
    if "JOIN" in statement and "LIMIT" in statement:
        return True
    bounded = "LIMIT" in statement or '"status" = ' in statement or '"created_at" > ' in statement
    return bool(re.search(r"COUNT\(|DISTINCT", statement)) and not bounded


def test_lists_cost_the_same_with_many_rows_as_with_few_and_read_no_whole_table() -> None:
    """A million rows are out of a test's reach; what would be slow with them isn't."""
    owner = member(Role.OWNER)
    settle_down("one")
    pages = {model: address(model, "changelist") for model in SHOWN}
    for page in pages.values():
        owner.get(page)  # what is kept in the process
    rows = {model: model._base_manager.count() for model in SHOWN}
    few = {model: statements(owner, page) for model, page in pages.items()}
    for name in ("two", "three", "four"):
        settle_down(name)
    for model, page in pages.items():
        many = statements(owner, page)
        assert rows[model] < model._base_manager.count() or model is EmbeddingSpace, model
        assert rows[model] > 0, model
        assert len(many) <= len(few[model]), (model, many)
        assert not [one for one in many if reads_a_whole_table(one)], model


def test_what_is_searched_for_is_looked_up_as_it_stands() -> None:
    """In capitals no index would find it; what is no id of the kind is nobody's."""
    owner = member(Role.OWNER)
    user = settle_down("one")
    for model in SHOWN:
        if not admin.site._registry[model].search_fields:
            continue
        for term in ("mem_nothing", "key 12", str(user.subject), "é"):
            asked = statements(owner, f"{address(model, 'changelist')}?q={term}")
            assert not [one for one in asked if "UPPER(" in one], (model, term)
    found = owner.get(f"{address(User, 'changelist')}?q={user.subject}")
    assert "one" in found.text and found.context["cl"].result_count == 1


@pytest.mark.parametrize("role", [Role.OWNER, Role.AUDITOR])
def test_each_role_gets_the_pages_that_are_its_own(role: Role) -> None:
    someone = settle_down("one")
    client = member(role)
    before = AuditEvent.objects.order_by("-pk").values_list("pk", flat=True)[0]
    for model in SHOWN:
        row = model._base_manager.order_by("pk").first()
        assert row is not None, model
        for page in ("changelist", "change", "history"):
            args = () if page == "changelist" else (row.pk,)
            got = client.get(address(model, page, *args)).status_code
            assert got == 200, (role, model, page, got)
        assert client.get(address(model, "add")).status_code == 403
        assert client.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
        if role == Role.AUDITOR:
            assert client.post(address(model, "reveal", row.pk)).status_code == 404
            _tries_every_action(client, model, row)
    if role == Role.AUDITOR:
        done = AuditEvent.objects.filter(pk__gt=before).values_list("action", flat=True)
        assert set(done) <= {"admin.audit_export"}
        someone.refresh_from_db()
        assert someone.is_active
        assert not ApiKey.objects.filter(user=someone, revoked_at__isnull=False).exists()


def _tries_every_action(client: Client, model: type[Model], row: Model) -> None:
    for action in admin.site._registry[model].actions or ():
        chosen = {"action": str(action), "_selected_action": [row.pk]}
        client.post(address(model, "changelist"), chosen)


def rows_of(client: Client, query: str) -> list[AuditEvent]:
    page = client.get(f"{address(AuditEvent, 'changelist')}?{query}")
    return list(page.context["cl"].result_list)


def test_who_deleted_what_of_whom_through_which_key_when_and_is_it_finished(
    alice: User, alice_key: str
) -> None:
    kept, binned = make_memory(alice, "Likes tea"), make_memory(alice, "Likes coffee")
    key = ApiKey.objects.get(user=alice)
    api = Client(headers={"Authorization": f"Bearer {alice_key}"})
    assert api.delete(f"/api/v1/memory/long_term/{kept.public_id}").status_code == 202
    with as_user(alice):
        curation.recycle(user=alice, memory=binned)
    auditor = member(Role.AUDITOR)
    deleted = rows_of(auditor, f"deed=forgotten&q={alice.subject}")
    assert [one.action for one in deleted] == ["memory.deleted", "forget.requested"]
    [asked] = rows_of(auditor, f"deed=forgotten&through=key&finished=no&q=key+{key.pk}")
    operation = Operation.objects.get(public_id=asked.target)
    page = auditor.get(f"{address(AuditEvent, 'changelist')}?q={asked.target}").text
    for told in (f"key {key.pk}", "alice", str(Kind(operation.kind).label), "Waiting"):
        assert told in page
    assert rows_of(auditor, "finished=yes&deed=forgotten") == []
    worker.drain()
    assert rows_of(auditor, "finished=yes&deed=forgotten") == [asked]
    assert rows_of(auditor, "finished=no&deed=forgotten") == []
    with as_user(alice):
        again = memory_forgets.forget_memory(user=alice, memory=binned)
    Operation.objects.filter(pk=again.pk).update(status=Status.FAILED, lease_until=None)
    assert [one.target for one in rows_of(auditor, "finished=failed")] == [again.public_id]


def test_the_audit_log_is_exported_whole_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ops.admin.audit_events._AT_ONCE", 7)
    for number in range(60):
        audit_log.append("tried", actor="test", surface="test", subject=None, target=str(number))
    everything = {"action": "export", "_selected_action": [1], "select_across": "1"}
    answer = member(Role.AUDITOR).post(
        f"{address(AuditEvent, 'changelist')}?action__exact=tried&action=tried", everything
    )
    lines = b"".join(answer.streaming_content).splitlines()  # type: ignore[attr-defined]
    assert len([one for one in lines if b'"tried"' in one]) == 60
    assert AuditEvent.objects.filter(action="admin.audit_export").count() == 1


def test_a_list_comes_compressed_and_brings_no_scripts_of_forms() -> None:
    client, page = member(Role.OWNER), address(Memory, "changelist")
    plain, packed = (
        client.get(page, headers={"accept-encoding": one}) for one in ("identity", "gzip")
    )
    assert packed["Content-Encoding"] == "gzip" and "Content-Encoding" not in plain
    assert len(packed.content) < len(plain.content) / 4
    assert b"actions.js" in plain.content and b"jquery" not in plain.content
