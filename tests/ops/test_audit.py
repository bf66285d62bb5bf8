import pytest
from django.utils import timezone

from ops.models import AuditEvent, Kind, Operation, Receipt
from ops.services import audit, outbox, receipts

pytestmark = pytest.mark.django_db


def append(action: str = "signed_in") -> AuditEvent:
    return audit.append(action, actor="user", surface="page", subject=None, details={"n": 1})


@pytest.fixture
def operation() -> Operation:
    return outbox.enqueue(Kind.FORGET_MEMORY, subject=None, payload={}, requested_by_key=7)


def test_each_event_holds_the_hash_of_the_one_before() -> None:
    first, second = append(), append()
    assert first.previous_hash == ""
    assert second.previous_hash == first.hash
    assert len(second.hash) == 64
    assert audit.first_break() is None


@pytest.mark.parametrize(
    "change", [{"actor": "else"}, {"details": {"n": 2}}, {"at": timezone.now()}]
)
def test_changing_an_event_breaks_the_chain_there(change: dict[str, object]) -> None:
    append()
    event = append()
    append()
    AuditEvent.objects.filter(pk=event.pk).update(**change)
    assert audit.first_break() == f"event {event.pk}"


def test_taking_an_event_out_breaks_the_chain_after_it() -> None:
    append()
    AuditEvent.objects.filter(pk=append().pk).delete()
    after = append()
    AuditEvent.objects.filter(pk=after.pk).update(previous_hash="0" * 64)
    assert audit.first_break() == f"event {after.pk}"


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


def test_changing_or_losing_a_receipt_is_noticed(operation: Operation) -> None:
    receipt = receipts.issue(operation, scope="memory")
    Receipt.objects.update(erased={"database": {"memories_memory": 9}})
    assert audit.first_break() == receipt.public_id
    Receipt.objects.all().delete()
    assert audit.first_break() == receipt.public_id


def test_a_receipt_that_nobody_logged_is_noticed(operation: Operation) -> None:
    receipt = receipts.issue(operation, scope="memory")
    AuditEvent.objects.all().delete()
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
