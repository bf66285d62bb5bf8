"""The chain of the audit log, and that only its owner could break it, and not unseen."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import StringIO

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from ops import audit_chain, audit_log
from ops.access import as_system
from ops.models import AuditEvent, AuditHead, AuditSeal, Kind, Operation, Receipt, UnsealedEvent
from ops.queue import outbox
from tests import databases

pytestmark = pytest.mark.django_db


TABLES = ("ops_auditevent", "ops_auditseal", "ops_receipt", "ops_audithead")


def append(action: str = "signed_in") -> AuditEvent:
    return audit_log.append(action, actor="user", surface="page", subject=None, details={"n": 1})


def seals() -> list[AuditSeal]:
    audit_chain.seal()
    return list(AuditSeal.objects.order_by("number").select_related("event"))


@pytest.fixture
def operation() -> Operation:
    return outbox.enqueue(Kind.FORGET_MEMORY, subject=None, payload={}, requested_by_key=7)


@contextmanager
def as_owner() -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """Whoever owns the tables can switch the triggers off."""
    name = connection.settings_dict["NAME"]
    url = databases.postgres.url("owner", database=name)
    with psycopg.connect(url, autocommit=True) as owner:
        for table in TABLES:
            owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        try:
            yield owner
        finally:
            for table in TABLES:
                owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
            for table in databases.APPEND_ONLY:
                owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER never_truncated")


def test_each_event_holds_the_hash_of_the_one_before() -> None:
    events = (append(), append())
    first, second = seals()
    assert (first.event, second.event) == events
    assert first.previous_hash == b""
    assert second.previous_hash == first.hash
    assert (first.number, second.number) == (1, 2)
    assert len(second.hash) == 32
    assert audit_chain.first_break() is None


@pytest.mark.parametrize(
    "change",
    [
        lambda: AuditEvent.objects.update(actor="else"),
        lambda: AuditEvent.objects.all()._raw_delete("default"),
        lambda: AuditSeal.objects.update(number=9),
        lambda: AuditSeal.objects.all().delete(),
        lambda: UnsealedEvent.objects.update(event=9),
        lambda: Receipt.objects.update(erased={}),
        lambda: Receipt.objects.all().delete(),
        lambda: AuditHead.objects.update(number=0),
        lambda: AuditHead.objects.all().delete(),
    ],
)
def test_the_database_lets_the_app_change_nothing(
    operation: Operation, change: Callable[[], object]
) -> None:
    audit_chain.issue_receipt(operation, scope="memory")
    with pytest.raises(DatabaseError), transaction.atomic():
        change()


@pytest.mark.parametrize("role", ["memcenter_app", "memcenter_system"])
@pytest.mark.parametrize("table", databases.APPEND_ONLY)
@pytest.mark.parametrize("act", ["UPDATE", "DELETE"])
def test_the_apps_roles_have_no_right_to_change_it(role: str, table: str, act: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT has_table_privilege(%s, %s, %s)", [role, table, act])
        assert cursor.fetchone() == (False,)


def test_the_apps_roles_have_no_right_to_empty_any_table() -> None:
    """Before the tests give it to themselves."""
    assert databases.can_be_emptied == set()


@pytest.mark.django_db(transaction=True)
def test_what_many_write_at_once_is_one_chain() -> None:
    """Each in a transaction of its own; the first event of all among them."""

    def write(n: int) -> None:
        try:
            with as_system():
                for _ in range(5):
                    audit_log.record(f"act.{n}", subject=None)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as writers:
        list(writers.map(write, range(8)))
    assert [one.number for one in seals()] == list(range(1, 41))
    assert audit_chain.first_break() is None


@pytest.mark.django_db(transaction=True)
def test_the_trigger_refuses_the_owner_too() -> None:
    append()
    name = connection.settings_dict["NAME"]
    with (
        psycopg.connect(databases.postgres.url("owner", database=name)) as owner,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        owner.execute("UPDATE ops_auditevent SET actor = 'else'")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE ops_auditevent SET actor = 'else' WHERE id = {second}",
        "UPDATE ops_auditevent SET details = '{{\"n\": 2}}' WHERE id = {second}",
        "UPDATE ops_auditevent SET at = now() WHERE id = {second}",
        "UPDATE ops_auditseal SET hash = '\\x00' WHERE event_id = {second}",
        "DELETE FROM ops_auditevent WHERE id = {second}",
        "DELETE FROM ops_auditseal WHERE event_id = {first}",
        "WITH gone AS (DELETE FROM ops_auditevent WHERE id = {first})"
        " DELETE FROM ops_auditseal WHERE event_id = {first}",
    ],
)
def test_what_was_changed_or_taken_out_shows_where_it_was(tampering: str) -> None:
    first, second, _ = append(), append(), append()
    audit_chain.seal()
    with as_owner() as owner:
        owner.execute(tampering.format(first=first.pk, second=second.pk))
    assert audit_chain.first_break() == f"event {second.pk}"


@pytest.mark.django_db(transaction=True)
def test_two_events_that_changed_places_show() -> None:
    first, second = append("a"), append("b")
    audit_chain.seal()
    with as_owner() as owner:
        owner.execute("UPDATE ops_auditseal SET event_id = -event_id")
        for event, place in ((second, 1), (first, 2)):
            owner.execute(
                "UPDATE ops_auditseal SET event_id = %s WHERE number = %s", [event.pk, place]
            )
    assert audit_chain.first_break() == f"event {second.pk}"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("cut", [1, 3])
def test_what_was_cut_off_the_end_shows(cut: int) -> None:
    _, second, _ = append(), append(), append()
    audit_chain.seal()
    with as_owner() as owner:
        newest = f"SELECT event_id FROM ops_auditseal ORDER BY number DESC LIMIT {cut}"
        owner.execute(f"DELETE FROM ops_auditevent WHERE id IN ({newest})")
        owner.execute(f"DELETE FROM ops_auditseal WHERE event_id IN ({newest})")
    where = f"after event {second.pk}" if cut == 1 else "the end"
    assert audit_chain.first_break() == where


def test_an_event_that_is_neither_sealed_nor_waiting_shows() -> None:
    append()
    event = append()
    UnsealedEvent.objects.filter(event=event)._raw_delete("default")
    audit_chain.seal()
    assert audit_chain.first_break() == f"event {event.pk}"


def test_what_waits_to_be_sealed_is_no_break() -> None:
    append()
    audit_chain.seal()
    second, _ = append(), append()
    assert audit_chain.first_break() is None
    assert audit_chain.tail() == audit_chain.Tail(count=2, first=second.pk)
    assert [one.number for one in seals()] == [1, 2, 3]
    assert audit_chain.tail() == audit_chain.Tail(count=0, first=None)


def test_a_long_chain_is_sealed_and_followed_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_chain, "_BATCH", 3)
    events = [append() for _ in range(7)]
    assert audit_chain.seal() == 7
    assert audit_chain.first_break() is None
    assert [one.event for one in seals()] == events


@pytest.mark.django_db(transaction=True)
def test_an_event_that_commits_late_is_sealed_late_and_once() -> None:
    """Its key is lower than that of an event which is sealed already."""
    name = connection.settings_dict["NAME"]
    event = "INSERT INTO ops_auditevent (at, actor, surface, action, target, details)"
    with psycopg.connect(databases.postgres.url("app", database=name)) as late:
        late.execute(f"{event} VALUES (now(), 'user', 'page', 'late', '', '{{}}')")
        early = append("early")
        assert [one.event for one in seals()] == [early]
        late.commit()
    assert [one.event.action for one in seals()] == ["early", "late"]
    assert audit_chain.seal() == 0
    assert audit_chain.first_break() is None


@pytest.mark.django_db(transaction=True)
def test_nobody_who_writes_an_event_waits_for_another() -> None:
    """Neither for one that hasn't committed, nor for the chain's head, which somebody holds."""
    name = connection.settings_dict["NAME"]
    with psycopg.connect(databases.postgres.url("app", database=name)) as other:
        append()
        audit_chain.seal()
        other.execute("SELECT 1 FROM ops_audithead FOR UPDATE")
        with as_system():
            connection.cursor().execute("SET LOCAL lock_timeout = '1ms'")
            audit_log.record("one.thing", subject=None)


@pytest.mark.django_db(transaction=True)
def test_the_command_names_the_first_break_and_fails() -> None:
    said = StringIO()
    event = append()
    call_command("verify_audit", stdout=said)
    waiting = f"Not sealed yet: 1 event from event {event.pk} on."
    assert said.getvalue() == f"0 events and 0 receipts hold together. {waiting}\n"
    call_command("verify_audit", "--seal", stdout=said)
    assert said.getvalue().endswith("\n1 event and 0 receipts hold together.\n")
    with as_owner() as owner:
        owner.execute("UPDATE ops_auditevent SET surface = 'admin'")
    with pytest.raises(CommandError, match=f"event {event.pk}"):
        call_command("verify_audit", stdout=said)


def test_a_receipt_is_chained_into_the_log(operation: Operation) -> None:
    append()
    [before] = seals()
    append()  # waits, and the receipt doesn't wait for it
    receipt = audit_chain.issue_receipt(operation, scope="memory", kept=["messages"])
    assert receipt.previous_hash == before.hash.hex()
    event = AuditEvent.objects.latest("pk")
    assert (event.action, event.actor, event.target) == (
        "forget.memory",
        "key 7",
        receipt.public_id,
    )
    assert event.details["receipt_hash"] == receipt.hash
    assert (event.seal.number, event.seal.previous_hash) == (2, before.hash)
    assert audit_chain.first_break() is None


@pytest.mark.django_db(transaction=True)
def test_changing_or_losing_a_receipt_is_noticed() -> None:
    operation = outbox.enqueue(Kind.FORGET_MEMORY, subject=None, payload={})
    receipt = audit_chain.issue_receipt(operation, scope="memory")
    with as_owner() as owner:
        owner.execute('UPDATE ops_receipt SET erased = \'{"database": {"memories_memory": 9}}\'')
        assert audit_chain.first_break() == receipt.public_id
        owner.execute("DELETE FROM ops_receipt")
        assert audit_chain.first_break() == receipt.public_id


@pytest.mark.django_db(transaction=True)
def test_a_receipt_that_nobody_logged_is_noticed() -> None:
    operation = outbox.enqueue(Kind.FORGET_MEMORY, subject=None, payload={})
    receipt = audit_chain.issue_receipt(operation, scope="memory")
    with as_owner() as owner:
        for table in ("ops_auditevent", "ops_auditseal", "ops_audithead"):
            owner.execute(f"DELETE FROM {table}")
    assert audit_chain.first_break() == receipt.public_id


def test_a_receipt_is_issued_once(operation: Operation) -> None:
    assert audit_chain.issue_receipt(operation, scope="memory") == audit_chain.issue_receipt(
        operation, scope="memory"
    )
    assert AuditEvent.objects.count() == AuditSeal.objects.count() == 1


def test_a_receipt_adds_up_what_the_steps_erased_by_store(operation: Operation) -> None:
    audit_chain.note_step(operation, step="a", counts={"memories_memory": 2, "files:export": 1})
    audit_chain.note_step(operation, step="b", counts={"memories_memory": 1, "memories_source": 0})
    audit_chain.note_step(operation, step="a", counts={"memories_memory": 4})
    receipt = audit_chain.issue_receipt(operation, scope="memory")
    assert receipt.erased == {"database": {"memories_memory": 7}, "files": {"export": 1}}
    assert receipt.requested_at == operation.created_at


def test_a_receipt_does_not_claim_a_scan_that_was_not_made(operation: Operation) -> None:
    assert audit_chain.issue_receipt(operation, scope="memory").scan == {}
