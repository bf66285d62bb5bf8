from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from foundation import ids
from ops.accounts import keys
from ops.models import Kind, Operation, Priority, Receipt, Status, User
from ops.queue import outbox
from tests.conftest import key_row
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db
PATH = "/memory/ops"


def enqueue(user: User, kind: Kind = Kind.REINDEX, **fields: Any) -> Operation:
    return outbox.enqueue(kind, subject=user.subject, payload={}, **fields)


def finished_forget(user: User, **fields: Any) -> Operation:
    operation = enqueue(user, Kind.FORGET_USER, priority=Priority.FORGET, **fields)
    now = timezone.now()
    Receipt.objects.create(
        operation=operation,
        subject=user.subject,
        scope="user",
        requested_at=now,
        finished_at=now,
        erased={"database": {"memories_memory": 3}},
        kept=["operations"],
        scan={"places": 12, "residue": 0},
        previous_hash="a",
        hash="b",
    )
    return operation


def test_operations_are_listed_newest_first(alice: User, mallory: User, alice_key: str) -> None:
    rows = [enqueue(alice), enqueue(alice, Kind.CLEANUP)]
    enqueue(mallory)
    found = answer(Api(alice_key).get(PATH))["results"]
    assert [one["op_id"] for one in found] == [row.public_id for row in reversed(rows)]
    assert found[0]["kind"] == "cleanup" and found[0]["status"] == "pending"
    assert found[0]["progress"] == {"done": 0, "total": 0, "step": ""}
    assert {"attempts", "last_error", "run_after", "created_at", "updated_at"} <= set(found[0])


def test_status_and_kind_narrow_the_list(alice: User, alice_key: str) -> None:
    enqueue(alice)
    done = enqueue(alice, Kind.CLEANUP)
    Operation.objects.filter(pk=done.pk).update(status=Status.SUCCEEDED)
    for query in ({"status": "succeeded"}, {"kind": "cleanup"}):
        found = answer(Api(alice_key).get(PATH, **query))["results"]
        assert [one["op_id"] for one in found] == [done.public_id]


@pytest.mark.parametrize(("field", "value"), [("status", "lost"), ("kind", "gossip")])
def test_a_bad_filter_is_named(field: str, value: str, alice: User, alice_key: str) -> None:
    refused(Api(alice_key).get(PATH, **{field: value}), field)


def test_one_operation_is_read_by_its_user_and_by_an_unbound_key(
    alice: User, alice_key: str, product_key: str
) -> None:
    path = f"{PATH}/{enqueue(alice).public_id}"
    found = answer(Api(alice_key).get(path))
    assert path.endswith(found["op_id"])
    assert answer(Api(product_key).get(path, user_id="alice")) == found
    refused(Api(product_key).get(path), "user_id")


@pytest.mark.parametrize("what", ["", "/receipt", "/retry", "/cancel"])
def test_a_stranger_finds_no_operation(
    what: str, alice: User, mallory: User, mallory_key: str, product_key: str
) -> None:
    path = f"{PATH}/{finished_forget(alice).public_id}{what}"
    method = "post" if what in ("/retry", "/cancel") else "get"
    body: dict[str, str] | None = {} if method == "post" else None
    error(Api(mallory_key).call(method, path, body), 404, "not_found")
    error(Api(product_key).call(method, path, body, user_id="mallory"), 404, "not_found")


def test_an_unbound_key_does_not_reach_who_has_no_external_id(db: None, product_key: str) -> None:
    staff = User.objects.create_superuser("root", "a long enough one")
    operation = enqueue(staff)
    error(Api(product_key).get(f"{PATH}/{operation.public_id}"), 404, "not_found")


def test_who_asked_for_it_reads_it_after_the_account_is_gone(alice: User, product_key: str) -> None:
    operation = finished_forget(alice, requested_by_key=key_row(product_key).pk)
    other = keys.create(name="another", scopes=["read"])[1]
    alice.delete()
    path = f"{PATH}/{operation.public_id}"
    assert answer(Api(product_key).get(path))["op_id"] == operation.public_id
    error(Api(other).get(path), 404, "not_found")


def test_an_operation_about_nobody_needs_an_admin_key(db: None, product_key: str) -> None:
    operation = outbox.enqueue(Kind.CLEANUP, subject=None, payload={})
    admin = keys.create(name="admin", scopes=["read", "admin"])[1]
    path = f"{PATH}/{operation.public_id}"
    error(Api(product_key).get(path), 404, "not_found")
    assert answer(Api(admin).get(path))["kind"] == "cleanup"


def test_a_receipt_says_what_was_erased(alice: User, alice_key: str) -> None:
    operation = finished_forget(alice)
    found = answer(Api(alice_key).get(f"{PATH}/{operation.public_id}/receipt"))
    assert found["op_id"] == operation.public_id and found["subject"] == str(alice.subject)
    assert found["erased"] == {"database": {"memories_memory": 3}}
    assert found["scan"] == {"places": 12, "residue": 0}
    assert (found["previous_hash"], found["hash"]) == ("a", "b")
    shown = answer(Api(alice_key).get(f"{PATH}/{operation.public_id}"))
    assert shown["receipt_id"] == found["receipt_id"]


def test_there_is_no_receipt_before_the_end(alice: User, alice_key: str) -> None:
    error(Api(alice_key).get(f"{PATH}/{enqueue(alice).public_id}/receipt"), 404, "not_found")


def with_token(operation: Operation, *, days: int) -> str:
    token = f"rt_{ids.make('')}"
    until = timezone.now() + timedelta(days=days)
    Operation.objects.filter(pk=operation.pk).update(
        token_digest=keys.digest(token), token_expires_at=until
    )
    return token


def test_a_receipt_token_reads_without_a_key(alice: User) -> None:
    operation = finished_forget(alice)
    token = with_token(operation, days=30)
    for what in ("", "/receipt"):
        path = f"{PATH}/{operation.public_id}{what}"
        assert answer(Api(None).get(path, receipt_token=token))["op_id"] == operation.public_id


def test_an_expired_or_wrong_token_reads_nothing(alice: User) -> None:
    operation, other = finished_forget(alice), enqueue(alice)
    expired, another = with_token(operation, days=-1), with_token(other, days=30)
    for token in (expired, another, "guess", "ü"):
        path = f"{PATH}/{operation.public_id}"
        error(Api(None).get(path, receipt_token=token), 404, "not_found")
    error(Api(None).get(f"{PATH}/{operation.public_id}", receipt_token=""), 404)
    error(Api(None).get(f"{PATH}/{operation.public_id}"), 401, "unauthenticated")


def test_a_token_changes_nothing(alice: User) -> None:
    operation = enqueue(alice)
    token = with_token(operation, days=30)
    path = f"{PATH}/{operation.public_id}/cancel"
    error(Api(None).post(path, {}, receipt_token=token), 401, "unauthenticated")


def test_a_failed_operation_is_tried_again(alice: User, alice_key: str) -> None:
    operation = enqueue(alice)
    path = f"{PATH}/{operation.public_id}/retry"
    error(Api(alice_key).post(path), 409, "conflict")
    Operation.objects.filter(pk=operation.pk).update(status=Status.FAILED)
    assert answer(Api(alice_key).post(path))["status"] == "pending"


def test_a_waiting_operation_is_withdrawn(alice: User, alice_key: str) -> None:
    path = f"{PATH}/{enqueue(alice).public_id}/cancel"
    assert answer(Api(alice_key).post(path))["status"] == "cancelled"
    error(Api(alice_key).post(path), 409, "conflict")


def test_forgetting_is_never_withdrawn(alice: User, alice_key: str) -> None:
    operation = enqueue(alice, Kind.FORGET_MEMORY, priority=Priority.FORGET)
    error(Api(alice_key).post(f"{PATH}/{operation.public_id}/cancel"), 409, "conflict")
    operation.refresh_from_db()
    assert operation.status == Status.PENDING


@pytest.mark.parametrize("name", ["op_unknown", "7", "%20", "x" * 500])
def test_an_unknown_operation_is_not_found(name: str, alice: User, alice_key: str) -> None:
    error(Api(alice_key).get(f"{PATH}/{name}"), 404, "not_found")


def test_a_long_list_takes_as_many_queries_as_a_short_one(alice: User, alice_key: str) -> None:
    finished_forget(alice)
    api, counts = Api(alice_key), []
    answer(api.get(PATH))
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            answer(api.get(PATH))
        counts.append(len(queries))
        for _ in range(5):
            finished_forget(alice)
    assert counts[0] == counts[1]
