from __future__ import annotations

import pytest
from django.test import Client

from ops import webhooks
from ops.models import Delivery, User, Webhook

pytestmark = pytest.mark.django_db
URL = "https://93.184.216.34/told"
PAGE = "/settings/webhooks/"


@pytest.fixture
def client_of_alice(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def test_an_address_is_added_tried_and_removed(client_of_alice: Client, alice: User) -> None:
    added = client_of_alice.post(PAGE, {"url": URL, "events": ["memory.created", "memory.deleted"]})
    assert (added.status_code, added["Location"]) == (302, PAGE)
    hook = Webhook.objects.get()
    assert (hook.user, hook.events) == (alice, ["memory.created", "memory.deleted"])
    client_of_alice.post(f"{PAGE}{hook.public_id}/test/")
    assert Delivery.objects.get().event == "test"
    page = client_of_alice.get(PAGE).content.decode()
    assert URL in page and hook.secret in page and "on its way" in page
    asked = client_of_alice.get(f"{PAGE}{hook.public_id}/remove/").content.decode()
    assert "Stop notifying this address?" in asked and "the record of 1 message" in asked
    assert Webhook.objects.exists()
    client_of_alice.post(f"{PAGE}{hook.public_id}/remove/")
    assert not Webhook.objects.exists() and not Delivery.objects.exists()


def test_an_address_is_switched_off_and_on_again(client_of_alice: Client, alice: User) -> None:
    hook = webhooks.create(user=alice, url=URL, events=["memory.created"])
    for value, active, offered in (("off", False, "Turn on"), ("on", True, "Turn off")):
        answer = client_of_alice.post(f"{PAGE}{hook.public_id}/switch/", {"active": value})
        assert (answer.status_code, answer["Location"]) == (302, PAGE)
        assert Webhook.objects.get().is_active is active
        assert offered in client_of_alice.get(PAGE).content.decode()
    hook.refresh_from_db()
    assert (hook.url, hook.events) == (URL, ["memory.created"])


def test_an_address_that_may_not_be_is_refused_in_words(client_of_alice: Client) -> None:
    body = {"url": "http://127.0.0.1/", "events": ["memory.created"]}
    answer = client_of_alice.post(PAGE, body)
    assert answer.status_code == 422
    assert b"private address" in answer.content and not Webhook.objects.exists()
    assert b'value="http://127.0.0.1/"' in answer.content


def test_a_stranger_tries_and_removes_nothing(client_of_alice: Client, mallory: User) -> None:
    hook = webhooks.create(user=mallory, url=URL, events=["memory.created"])
    for act in ("test", "switch", "remove"):
        assert client_of_alice.post(f"{PAGE}{hook.public_id}/{act}/").status_code == 404
    assert Webhook.objects.exists() and not Delivery.objects.exists()
    assert URL not in client_of_alice.get(PAGE).content.decode()
    assert Client().post(PAGE, {"url": URL}).status_code == 302
