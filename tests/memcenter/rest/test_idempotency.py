from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.http import HttpResponse
from django.utils import timezone

from conversations.models import Conversation
from memcenter.rest import idempotency
from memories.models import Memory
from ops.models import IdempotencyRecord, User
from tests.conftest import key_row
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db
BODY = {"title": "About chess"}


def start(key: str, body: Any = BODY, *, word: str = "once", path: str = "/conversations") -> Any:
    return Api(key).call("post", path, body, headers={"idempotency-key": word})


def test_the_same_call_again_changes_nothing_and_gives_the_same_answer(
    alice: User, alice_key: str
) -> None:
    first, second = start(alice_key), start(alice_key)
    assert answer(first, 201) == answer(second, 201)
    assert second["Idempotency-Replayed"] == "true"
    assert Conversation.objects.filter(user=alice).count() == 1


def test_spaces_and_order_do_not_make_another_request(alice: User, alice_key: str) -> None:
    first = start(alice_key, b'{"title": "a", "kind": "main"}')
    second = start(alice_key, b'{ "kind":"main", "title":"a" }')
    assert answer(first, 201) == answer(second, 201)


@pytest.mark.parametrize(
    ("body", "path"), [({"title": "Another"}, "/conversations"), (BODY, "/memory/long_term/bulk")]
)
def test_another_request_under_the_same_key_conflicts(
    body: Any, path: str, alice: User, alice_key: str
) -> None:
    answer(start(alice_key), 201)
    if path != "/conversations":
        body = {"ids": ["mem_x"], "action": "pin"}
    error(start(alice_key, body, path=path), 409, "conflict")


def test_the_same_word_of_another_key_is_another_call(alice_key: str, mallory_key: str) -> None:
    first, second = answer(start(alice_key), 201), answer(start(mallory_key), 201)
    assert first["id"] != second["id"]


def test_one_word_for_two_users_conflicts(product_key: str) -> None:
    answer(start(product_key, {"user_id": "bob"}), 201)
    error(start(product_key, {"user_id": "carol"}), 409, "conflict")


def test_only_success_is_kept(alice: User, alice_key: str) -> None:
    refused(start(alice_key, {"title": 7}), "title")
    assert not IdempotencyRecord.objects.exists()
    answer(start(alice_key), 201)


def test_an_erased_answer_conflicts(alice: User, alice_key: str) -> None:
    answer(start(alice_key), 201)
    IdempotencyRecord.objects.update(body=None, body_erased=True)
    found = error(start(alice_key), 409, "conflict")
    assert "forgotten" in found["message"]


def test_an_expired_word_may_be_used_again(alice: User, alice_key: str) -> None:
    answer(start(alice_key), 201)
    IdempotencyRecord.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer(start(alice_key, {"title": "Another"}), 201)
    assert Conversation.objects.filter(user=alice).count() == 2


@pytest.fixture
def another_session(db: None) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(**connection.get_connection_params()) as session:
        yield session


def test_while_the_first_call_runs_the_second_conflicts(
    alice: User, alice_key: str, another_session: psycopg.Connection[Any]
) -> None:
    name = f"idempotency:{key_row(alice_key).pk}:once"
    another_session.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
    found = error(start(alice_key), 409, "conflict")
    assert "still running" in found["message"]
    another_session.rollback()  # the first call died: nothing of it is left behind
    answer(start(alice_key), 201)


def test_a_call_that_breaks_off_leaves_neither_its_work_nor_a_record(
    alice: User, alice_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **fields: Any) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as broken_off:
        broken_off.setattr(idempotency.IdempotentCall, "keep", broken)
        error(start(alice_key), 500)
    assert not Conversation.objects.filter(user=alice).exists()
    answer(start(alice_key), 201)


@pytest.mark.parametrize("word", ["", "x" * 201, "tab\there"])
def test_an_impossible_word_is_named(word: str, alice: User, alice_key: str) -> None:
    refused(start(alice_key, word=word), "Idempotency-Key")


def test_a_memory_is_written_once(alice: User, alice_key: str) -> None:
    def write() -> HttpResponse:
        response: HttpResponse = start(
            alice_key, {"content": "I play chess."}, path="/memory/long_term"
        )
        return response

    assert answer(write(), 201) == answer(write(), 201)
    assert Memory.objects.filter(user=alice).count() == 1


def test_reading_needs_no_record(alice: User, alice_key: str) -> None:
    response = Api(alice_key).call("get", "/memory/settings", headers={"idempotency-key": "once"})
    answer(response)
    assert not IdempotencyRecord.objects.exists()


def test_the_record_names_the_user_so_that_it_can_be_erased(alice: User, alice_key: str) -> None:
    answer(start(alice_key), 201)
    assert IdempotencyRecord.objects.get().user == alice
