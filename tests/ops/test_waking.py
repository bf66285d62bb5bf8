import pytest
from celery import current_app
from django.core.cache import cache
from redis.exceptions import ConnectionError as RedisIsGone

from ops import tasks
from ops.models import Kind, Operation
from ops.queue import broker, outbox

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The messages that went to the broker."""
    messages: list[str] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, **options: messages.append(name))
    cache.clear()
    return messages


def test_many_wakes_are_one_message(sent: list[str]) -> None:
    for _ in range(50):
        broker.wake()
    assert sent == [tasks.drain_outbox.name]


def test_what_is_written_after_the_worker_began_wakes_it_again(sent: list[str]) -> None:
    broker.wake()
    tasks.drain_outbox()
    broker.wake()
    assert len(sent) == 2


def test_without_redis_the_operation_is_still_written(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: object
) -> None:
    def gone(*args: object, **options: object) -> None:
        raise RedisIsGone

    monkeypatch.setattr(cache, "add", gone)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        outbox.enqueue(Kind.CLEANUP, subject=None, payload={})
    assert Operation.objects.count() == 1
