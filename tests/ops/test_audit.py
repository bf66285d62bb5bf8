"""The chain of the audit log, and that only its owner could break it, and not unseen."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import StringIO

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from ops.access import as_system
from ops.models import AuditEvent, AuditHead, Kind, Operation, Receipt
from ops.services import audit, outbox, receipts
from tests import databases

pytestmark = pytest.mark.django_db


def append(action: str = "signed_in") -> AuditEvent:
    return audit.append(action, actor="user", surface="page", subject=None, details={"n": 1})


@pytest.fixture
def operation() -> Operation:
    return outbox.enqueue(Kind.FORGET_MEMORY, subject=None, payload={}, requested_by_key=7)


@contextmanager
def as_owner() -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """Whoever owns the tables can switch the triggers off."""
    name = connection.settings_dict["NAME"]
    url = databases.postgres.url("owner", database=name)
    with psycopg.connect(url, autocommit=True) as owner:
        for table in ("ops_auditevent", "ops_receipt", "ops_audithead"):
            owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        try:
            yield owner
        finally:
            for table in ("ops_auditevent", "ops_receipt", "ops_audithead"):
                owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
            for table in ("ops_auditevent", "ops_receipt"):
                owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER never_truncated")


def test_each_event_holds_the_hash_of_the_one_before() -> None:
    first, second = append(), append()
    assert first.previous_hash == ""
    assert second.previous_hash == first.hash
    assert (first.number, second.number) == (1, 2)
    assert len(second.hash) == 64
    assert audit.first_break() is None


@pytest.mark.parametrize(
    "change",
    [
        lambda: AuditEvent.objects.update(actor="else"),
        lambda: AuditEvent.objects.all().delete(),
        lambda: Receipt.objects.update(erased={}),
        lambda: Receipt.objects.all().delete(),
        lambda: AuditHead.objects.update(number=0),
        lambda: AuditHead.objects.all().delete(),
    ],
)
def test_the_database_lets_the_app_change_nothing(
    operation: Operation, change: Callable[[], object]
) -> None:
    receipts.issue(operation, scope="memory")
    with pytest.raises(DatabaseError), transaction.atomic():
        change()


@pytest.mark.parametrize("role", ["memcenter_app", "memcenter_system"])
@pytest.mark.parametrize("table", ["ops_auditevent", "ops_receipt"])
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
                    audit.record(f"act.{n}", subject=None)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as writers:
        list(writers.map(write, range(8)))
    numbers = list(AuditEvent.objects.order_by("pk").values_list("number", flat=True))
    assert numbers == list(range(1, 41))
    assert audit.first_break() is None


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
        "UPDATE ops_auditevent SET actor = 'else' WHERE number = 2",
        "UPDATE ops_auditevent SET details = '{\"n\": 2}' WHERE number = 2",
        "UPDATE ops_auditevent SET at = now() WHERE number = 2",
        "DELETE FROM ops_auditevent WHERE number = 1",
    ],
)
def test_what_was_changed_or_taken_out_shows_where_it_was(tampering: str) -> None:
    append()
    second = append()
    append()
    with as_owner() as owner:
        owner.execute(tampering)
    assert audit.first_break() == f"event {second.pk}"


@pytest.mark.django_db(transaction=True)
def test_two_events_that_changed_places_show() -> None:
    first, second = append("a"), append("b")
    with as_owner() as owner:
        owner.execute("UPDATE ops_auditevent SET number = NULL")
        for one, other in ((first, second), (second, first)):
            owner.execute(
                "UPDATE ops_auditevent SET action = %s, number = %s, hash = %s WHERE id = %s",
                [other.action, other.number, f"{other.hash[:-1]}x", one.pk],
            )
    assert audit.first_break() == f"event {first.pk}"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("cut", "where"), [(1, "after event 2"), (3, "the end")])
def test_what_was_cut_off_the_end_shows(cut: int, where: str) -> None:
    for _ in range(3):
        append()
    with as_owner() as owner:
        owner.execute("DELETE FROM ops_auditevent WHERE number > %s", [3 - cut])
    assert audit.first_break() == where


@pytest.mark.django_db(transaction=True)
def test_the_command_names_the_first_break_and_fails() -> None:
    said = StringIO()
    event = append()
    call_command("verify_audit", stdout=said)
    assert said.getvalue() == "1 event and 0 receipts hold together.\n"
    with as_owner() as owner:
        owner.execute("UPDATE ops_auditevent SET surface = 'admin'")
    with pytest.raises(CommandError, match=f"event {event.pk}"):
        call_command("verify_audit", stdout=said)


def test_a_receipt_is_chained_into_the_log(operation: Operation) -> None:
    before = append()
    receipt = receipts.issue(operation, scope="memory", kept=["messages"])
    assert receipt.previous_hash == before.hash
    event = AuditEvent.objects.latest("pk")
    assert (event.action, event.actor, event.target) == (
        "forget.memory",
        "key 7",
        receipt.public_id,
    )
    assert event.details["receipt_hash"] == receipt.hash
    assert audit.first_break() is None


@pytest.mark.django_db(transaction=True)
def test_changing_or_losing_a_receipt_is_noticed() -> None:
    operation = outbox.enqueue(Kind.FORGET_MEMORY, subject=None, payload={})
    receipt = receipts.issue(operation, scope="memory")
    with as_owner() as owner:
        owner.execute('UPDATE ops_receipt SET erased = \'{"database": {"memories_memory": 9}}\'')
        assert audit.first_break() == receipt.public_id
        owner.execute("DELETE FROM ops_receipt")
        assert audit.first_break() == receipt.public_id


@pytest.mark.django_db(transaction=True)
def test_a_receipt_that_nobody_logged_is_noticed() -> None:
    operation = outbox.enqueue(Kind.FORGET_MEMORY, subject=None, payload={})
    receipt = receipts.issue(operation, scope="memory")
    with as_owner() as owner:
        owner.execute("DELETE FROM ops_auditevent")
    assert audit.first_break() == receipt.public_id


def test_a_receipt_is_issued_once(operation: Operation) -> None:
    assert receipts.issue(operation, scope="memory") == receipts.issue(operation, scope="memory")
    assert AuditEvent.objects.count() == 1


def test_a_receipt_adds_up_what_the_steps_erased_by_store(operation: Operation) -> None:
    receipts.note(operation, step="a", counts={"memories_memory": 2, "files:export": 1})
    receipts.note(operation, step="b", counts={"memories_memory": 1, "memories_source": 0})
    receipts.note(operation, step="a", counts={"memories_memory": 4})
    receipt = receipts.issue(operation, scope="memory")
    assert receipt.erased == {"database": {"memories_memory": 7}, "files": {"export": 1}}
    assert receipt.requested_at == operation.created_at


def test_a_receipt_does_not_claim_a_scan_that_was_not_made(operation: Operation) -> None:
    assert receipts.issue(operation, scope="memory").scan == {}
