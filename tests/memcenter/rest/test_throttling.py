import pytest
import redis
from pytest_django import Settings

from memcenter.rest import throttling
from ops.models import User
from tests.conftest import key_row
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
    alice: User, alice_key: str, mallory_key: str, product_key: str, settings: Settings
) -> None:
    settings.RATE_LIMIT = 1
    answer(Api(alice_key).get("/memory/settings"))
    answer(Api(mallory_key).get("/memory/settings"))
    answer(Api(product_key).get("/memory/settings", user_id="alice"))


def test_forgetting_is_counted_apart(alice: User, alice_key: str, settings: Settings) -> None:
    settings.RATE_LIMIT_HEAVY = 1
    api = Api(alice_key)
    error(api.delete("/conversations/none"), 404)
    error(api.delete("/conversations/none"), 429, "rate_limited")
    answer(api.get("/memory/settings"))


@pytest.mark.parametrize(
    ("limit", "method"), [("RATE_LIMIT", "get"), ("RATE_LIMIT_HEAVY", "delete")]
)
def test_one_person_does_not_use_up_what_others_of_the_key_may_call(
    alice: User, mallory: User, product_key: str, settings: Settings, limit: str, method: str
) -> None:
    setattr(settings, limit, 2)
    api = Api(product_key)
    status = [
        api.call(method, "/conversations/none", user_id=name).status_code
        for name in ("alice", "alice", "alice", "mallory", "mallory", "mallory")
    ]
    assert status == [404, 404, 429, 404, 404, 429]


def test_the_key_as_a_whole_is_limited_too(
    alice: User, mallory: User, product_key: str, settings: Settings
) -> None:
    settings.RATE_LIMIT_KEY = 2
    api = Api(product_key)
    answer(api.get("/memory/settings", user_id="alice"))
    error(api.get("/memory/settings"), 400)  # a call that names nobody counts as well
    response = api.get("/memory/settings", user_id="mallory")
    assert "this key" in error(response, 429, "rate_limited")["message"]
    assert response["Retry-After"] == "50"


def test_people_without_a_row_have_a_share_of_their_own(
    product_key: str, settings: Settings
) -> None:
    settings.RATE_LIMIT = 1
    api, turn = Api(product_key), {"user_message": "Hi.", "assistant_message": "Ho."}
    body = {**turn, "conversation_id": "t1", "temporary": True}
    for name in ("tim", "tom"):
        answer(api.post("/turns", {**body, "user_id": name}), 201)
        error(api.post("/turns", {**body, "user_id": name}), 429)
    assert not any(b"tim" in one for one in throttling.client().keys("mc:rate:*"))


def test_an_honest_backend_with_a_hundred_people_on_one_key_loses_nothing(
    product_key: str,
) -> None:
    """A hundred calls a minute about each, by the defaults."""
    key = key_row(product_key)
    for number in range(100):
        for _ in range(100):
            throttling.count_key(key)
            throttling.count_person(key, User(pk=number), scope="write")


def test_an_answer_says_what_is_left(alice: User, alice_key: str, settings: Settings) -> None:
    settings.RATE_LIMIT = settings.RATE_LIMIT_HEAVY = 2
    settings.RATE_LIMIT_KEY = 10
    api = Api(alice_key)
    response = api.get("/memory/settings")
    assert response["RateLimit-Policy"] == '"key";q=10;w=60, "person";q=2;w=60'
    assert response["RateLimit"] == '"key";r=9;t=50, "person";r=1;t=50'
    forgotten = api.delete("/conversations/none")
    assert forgotten["RateLimit"] == '"key";r=8;t=50, "heavy";r=1;t=50'
    answer(api.get("/memory/settings"))
    over = api.get("/memory/settings")
    assert (over.status_code, over["RateLimit"]) == (429, '"key";r=6;t=50, "person";r=0;t=50')
    assert "RateLimit" not in Api(None).get("/memory/settings")


def test_with_redis_gone_every_call_passes(
    alice: User, alice_key: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMIT = settings.RATE_LIMIT_KEY = 1
    away = redis.Redis.from_url("redis://127.0.0.1:1/0")
    monkeypatch.setattr(throttling, "client", lambda: away)
    api = Api(alice_key)
    answer(api.get("/memory/settings"))
    answer(api.get("/memory/settings"))
    assert "RateLimit" not in api.get("/memory/settings")
