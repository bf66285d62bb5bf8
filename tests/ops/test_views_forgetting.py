"""Deleting everything from the page."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from ops.accounts import sign_ins, users
from ops.models import Operation, Receipt, Status, User
from ops.pages import base
from ops.queue.worker import drain
from tests.factories import make_conversation, make_memory, make_turn

PASSWORD = "correct-horse-battery"
PAGE = "/memory/data/everything/"
RIGHT = {"phrase": "delete everything", "password": PASSWORD}


@pytest.fixture
def maya(db: None) -> User:
    cache.clear()
    user = users.register(username="maya", password=PASSWORD, language="en")
    turn = make_turn(make_conversation(user, title="Trip"), "I am allergic to peanuts.")
    make_memory(user, "Allergic to peanuts", turns=[turn])
    return user


@pytest.fixture
def client(maya: User) -> Client:
    client = Client()
    client.post("/signin/", {"username": "maya", "password": PASSWORD})
    return client


def is_whole(user: User) -> bool:
    return User.objects.filter(pk=user.pk, hidden_at__isnull=True).exists()


def test_it_lists_exactly_what_goes(client: Client) -> None:
    page = client.get(PAGE).text
    for words in ("2 messages", "1 conversation", "1 memory", "the account itself"):
        assert words in page


@pytest.mark.parametrize("phrase", ["delete everything", "Delete everything", "删除全部"])
def test_the_phrase_and_the_password_delete_everything_and_sign_out(
    client: Client, maya: User, phrase: str
) -> None:
    answer = client.post(PAGE, RIGHT | {"phrase": phrase})
    operation = Operation.objects.get(kind="forget_user")
    assert answer.status_code == 302
    assert answer["Location"].startswith(f"/forgotten/{operation.public_id}/?token=rt_")
    assert not is_whole(maya)
    assert client.get("/memory/data/").status_code == 302


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"phrase": ""}, "exactly as shown"),
        ({"phrase": "delete"}, "exactly as shown"),
        ({"password": ""}, "The password is wrong."),
        ({"password": "other"}, "The password is wrong."),
    ],
)
def test_anything_wrong_deletes_nothing(
    client: Client, maya: User, wrong: dict[str, str], words: str
) -> None:
    answer = client.post(PAGE, RIGHT | wrong)
    assert answer.status_code == 422
    assert words in answer.text
    assert is_whole(maya)


def test_guessing_the_password_here_comes_to_an_end(client: Client, maya: User) -> None:
    for _ in range(sign_ins.ALLOWED):
        client.post(PAGE, RIGHT | {"password": "other"})
    answer = client.post(PAGE, RIGHT)
    assert answer.status_code == 422
    assert "Too many wrong" in answer.text
    assert is_whole(maya)


def test_without_a_password_a_fresh_sign_in_is_the_proof(client: Client, maya: User) -> None:
    maya.set_unusable_password()
    maya.save()
    client.force_login(maya)  # not by our pages: when this session began is not known
    answer = client.post(PAGE, {"phrase": "delete everything"})
    assert answer.status_code == 422
    assert "sign in again" in answer.text
    session = client.session
    session["signed_in_at"] = timezone.now().timestamp()
    session.save()
    assert "Your password" not in client.get(PAGE).text
    assert client.post(PAGE, {"phrase": "delete everything"}).status_code == 302
    assert not is_whole(maya)


def test_a_sign_in_of_long_ago_is_not_fresh(client: Client, maya: User) -> None:
    maya.set_unusable_password()
    maya.save()
    client.force_login(maya)
    session = client.session
    session["signed_in_at"] = timezone.now().timestamp() - base.FRESH_SECONDS - 1
    session.save()
    assert client.post(PAGE, {"phrase": "delete everything"}).status_code == 422
    assert is_whole(maya)


def test_the_token_shows_progress_and_then_the_receipt(client: Client, maya: User) -> None:
    address = client.post(PAGE, RIGHT)["Location"]
    visitor = Client()
    waiting = visitor.get(address)
    assert "Everything is being forgotten" in waiting.text
    assert 'hx-trigger="every 2s"' in waiting.text
    assert "no-store" in waiting["Cache-Control"]
    drain()
    receipt = Receipt.objects.get()
    done = visitor.get(address, headers={"HX-Request": "true", "HX-Target": "progress"}).text
    assert "<html" not in done
    assert "every 2s" not in done
    assert receipt.hash in done
    token = address.split("?")[1]
    file = visitor.get(f"/forgotten/{receipt.operation.public_id}/receipt/?{token}")
    assert file.json()["receipt_id"] == receipt.public_id


def test_there_is_no_receipt_file_before_it_is_done(client: Client) -> None:
    address = client.post(PAGE, RIGHT)["Location"]
    path, _, query = address.partition("?")
    assert Client().get(f"{path}receipt/?{query}").status_code == 404


@pytest.mark.parametrize("tail", ["", "receipt/"])
def test_without_the_token_nothing_is_shown(client: Client, tail: str) -> None:
    path, _, query = client.post(PAGE, RIGHT)["Location"].partition("?")
    drain()
    visitor = Client()
    for wrong in ("", "?token=", "?token=rt_wrong"):
        assert visitor.get(f"{path}{tail}{wrong}").status_code == 404
    assert visitor.get(f"/forgotten/op_none/{tail}?{query}").status_code == 404
    Operation.objects.update(token_expires_at=timezone.now() - timedelta(seconds=1))
    assert visitor.get(f"{path}{tail}?{query}").status_code == 404


def test_a_failure_says_that_it_stays_hidden(client: Client) -> None:
    address = client.post(PAGE, RIGHT)["Location"]
    changes = {"status": Status.FAILED, "last_error": "The worker stopped in the middle."}
    Operation.objects.filter(kind="forget_user").update(**changes)
    page = Client().get(address).text
    assert "The worker stopped in the middle." in page
    assert "every 2s" not in page


def test_only_the_one_who_asked_goes(client: Client, mallory: User) -> None:
    make_memory(mallory, "Likes tea")
    client.post(PAGE, RIGHT)
    drain()
    assert is_whole(mallory)
    assert mallory.memory_set.count() == 1
