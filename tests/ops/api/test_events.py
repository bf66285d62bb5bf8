"""Watching an operation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.http import StreamingHttpResponse
from django.test import Client
from rest_framework.exceptions import Throttled

from memcenter.rest.throttling import ConcurrencyLimit
from ops.api import views_operations
from ops.models import Kind, Operation, Status, User
from ops.queue import outbox
from tests.claiming import claim
from tests.memcenter.rest.client import Api, error

pytestmark = pytest.mark.django_db


@pytest.fixture
def operation(alice: User) -> Operation:
    return outbox.enqueue(Kind.REINDEX, subject=alice.subject, payload={})


def watch(
    operation: Operation, *, meanwhile: Iterable[Callable[[], object]] = (), seen: str = ""
) -> list[dict[str, Any]]:
    """What is told while these things happen between two looks; then the time is over."""
    acts = list(meanwhile)
    moments = iter([0.0, *[1.0] * len(acts), *[99.0] * 9])
    stream = views_operations.Events(
        operation.public_id,
        seen=seen,
        place=ConcurrencyLimit(1).acquire(),
        wait=lambda _: acts.pop(0)() if acts else None,
        clock=lambda: next(moments),
    )
    text = b"".join(stream).decode()
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


def end(operation: Operation) -> None:
    claimed = claim([Kind.REINDEX], now=operation.run_after)
    assert claimed is not None and outbox.succeed(claimed)


def url(operation: Operation) -> str:
    return f"/memory/ops/{operation.public_id}/events"


def test_each_change_is_told_once_until_the_operation_has_ended(operation: Operation) -> None:
    told = watch(operation, meanwhile=[lambda: None, lambda: end(operation), lambda: None])
    assert [one["status"] for one in told] == ["pending", "succeeded"]
    assert {one["op_id"] for one in told} == {operation.public_id}


def test_a_stream_ends_when_its_time_is_over(operation: Operation) -> None:
    assert [one["status"] for one in watch(operation)] == ["pending"]


def test_who_asks_again_hears_only_what_is_new(operation: Operation) -> None:
    seen = views_operations.event_id(operation)
    told = watch(operation, seen=seen, meanwhile=[lambda: end(operation)])
    assert [one["status"] for one in told] == ["succeeded"]


def test_who_saw_the_end_is_told_to_ask_no_more(operation: Operation, alice_key: str) -> None:
    end(operation)
    operation.refresh_from_db()
    headers = {"Last-Event-ID": views_operations.event_id(operation)}
    assert Api(alice_key).call("get", url(operation), headers=headers).status_code == 204


def test_a_stream_is_one_of_events_and_is_never_stored(
    operation: Operation, alice_key: str
) -> None:
    Operation.objects.filter(pk=operation.pk).update(status=Status.CANCELLED)
    response = Api(alice_key).get(url(operation))
    assert isinstance(response, StreamingHttpResponse)
    assert response["Content-Type"] == "text/event-stream"
    assert response["Cache-Control"] == "no-store"
    assert b'"status":"cancelled"' in b"".join(response)


def test_whoever_is_signed_in_watches_only_their_own(
    operation: Operation, alice: User, mallory: User
) -> None:
    outbox.cancel(operation)  # so that the stream ends
    for user, status in ((alice, 200), (mallory, 404)):
        client = Client()
        client.force_login(user)
        response = client.get(f"/api/v1{url(operation)}")
        assert response.status_code == status
        b"".join(response)


def test_strangers_watch_nothing(operation: Operation, mallory_key: str) -> None:
    error(Api(mallory_key).get(url(operation)), 404, "not_found")
    error(Api(None).get(url(operation)), 401, "unauthenticated")


def test_a_session_opens_nothing_else(operation: Operation, alice: User) -> None:
    client = Client()
    client.force_login(alice)
    assert client.get(f"/api/v1/memory/ops/{operation.public_id}").status_code == 401


def test_streams_take_no_more_than_their_share(
    operation: Operation, alice_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox.cancel(operation)
    share = ConcurrencyLimit(1)
    monkeypatch.setattr(views_operations, "_share", share)
    response = Api(alice_key).get(url(operation))
    error(Api(alice_key).get(url(operation)), 429, "rate_limited")
    with pytest.raises(Throttled):
        share.acquire()
    assert isinstance(response, StreamingHttpResponse)
    b"".join(response)
    share.acquire()
