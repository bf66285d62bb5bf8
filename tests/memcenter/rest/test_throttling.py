import pytest
import redis
from pytest_django import Settings

from memcenter.rest import throttling
from ops.models import User
from tests.memcenter.rest.client import Api, answer, error

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands ten seconds into a minute of its own until it is moved."""
    names = throttling.client().keys("mc:rate:*")
    if names:
        throttling.client().delete(*names)
    now = [6_000_010.0 - 6_000_010.0 % 60 + 10]
    monkeypatch.setattr(throttling, "now", lambda: now[0])
    return now


def test_a_key_that_calls_too_often_is_told_when_to_come_back(
    alice: User, alice_key: str, settings: Settings
) -> None:
    settings.RATE_LIMIT = 2
    api = Api(alice_key)
    answer(api.get("/memory/settings"))
    answer(api.get("/memory/settings"))
    response = api.get("/memory/settings")
    error(response, 429, "rate_limited")
    assert response["Retry-After"] == "50"


def test_the_next_minute_begins_anew(
    alice: User, alice_key: str, settings: Settings, clock: list[float]
) -> None:
    settings.RATE_LIMIT = 1
    api = Api(alice_key)
    answer(api.get("/memory/settings"))
    error(api.get("/memory/settings"), 429)
    clock[0] += 50
    answer(api.get("/memory/settings"))


def test_each_key_has_its_own_share(
    alice: User, alice_key: str, mallory_key: str, settings: Settings
) -> None:
    settings.RATE_LIMIT = 1
    answer(Api(alice_key).get("/memory/settings"))
    answer(Api(mallory_key).get("/memory/settings"))


def test_forgetting_is_counted_apart(alice: User, alice_key: str, settings: Settings) -> None:
    settings.RATE_LIMIT_HEAVY = 1
    api = Api(alice_key)
    error(api.delete("/conversations/none"), 404)
    error(api.delete("/conversations/none"), 429, "rate_limited")
    answer(api.get("/memory/settings"))


def test_with_redis_gone_every_call_passes(
    alice: User, alice_key: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMIT = 1
    away = redis.Redis.from_url("redis://127.0.0.1:1/0")
    monkeypatch.setattr(throttling, "client", lambda: away)
    api = Api(alice_key)
    answer(api.get("/memory/settings"))
    answer(api.get("/memory/settings"))
