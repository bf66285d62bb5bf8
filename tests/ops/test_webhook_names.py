"""Where the name of a webhook's address leads: a resolver of the test's own says it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from ops import webhooks
from ops.models import Delivery, User, Webhook
from ops.queue import worker
from tests.memcenter.rest.client import Api, answer, refused

pytestmark = pytest.mark.django_db
NAME, PUBLIC, OTHER, PRIVATE = "hook.example", "93.184.216.34", "93.184.216.35", "10.0.0.5"
Resolver = Callable[..., None]


class Dialled(OSError):
    """The connection that would have been made."""


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that were connected to; none of them answers."""
    found: list[str] = []

    def connect(address: tuple[str, int], *more: Any, **named: Any) -> socket.socket:
        found.append(address[0])
        raise Dialled

    monkeypatch.setattr(socket, "create_connection", connect)
    return found


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    """Answers each look-up of the name with the next of these addresses; None: it isn't known."""

    def answers(*given: tuple[str, ...] | None) -> None:
        waiting = list(given)

        def look_up(name: str, *more: Any, **named: Any) -> list[Any]:
            assert name == NAME
            found = waiting.pop(0)
            if found is None:
                raise socket.gaierror(socket.EAI_NONAME, "not known")
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 0)) for one in found]

        monkeypatch.setattr(socket, "getaddrinfo", look_up)

    return answers


def saved(key: str) -> Webhook:
    body = {"url": f"https://{NAME}/told", "events": ["memory.created"]}
    made = answer(Api(key).post("/webhooks", body), 201)
    return Webhook.objects.get(public_id=made["id"])


def sent(hook: Webhook) -> Delivery:
    webhooks.try_out(hook)
    worker.drain()
    return Delivery.objects.get()


@pytest.mark.parametrize("found", [(PRIVATE,), (PUBLIC, PRIVATE), ("::1",), ("169.254.169.254",)])
def test_a_name_that_leads_to_a_private_place_is_refused_when_it_is_saved(
    alice: User, alice_key: str, resolver: Resolver, found: tuple[str, ...]
) -> None:
    resolver(found)
    body = {"url": f"https://{NAME}/told", "events": ["memory.created"]}
    assert "private" in refused(Api(alice_key).post("/webhooks", body), "url")
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    "later", [(PRIVATE,), (PUBLIC, PRIVATE), ("::ffff:127.0.0.1",), ("fd00::1",)]
)
@pytest.mark.parametrize("first", [None, (PUBLIC,)], ids=["unknown", "public"])
def test_a_name_that_leads_to_a_private_place_later_is_blocked_when_something_is_sent(
    alice: User,
    alice_key: str,
    resolver: Resolver,
    dialled: list[str],
    first: tuple[str, ...] | None,
    later: tuple[str, ...],
) -> None:
    resolver(first, later)
    delivery = sent(saved(alice_key))
    assert "private" in delivery.error and delivery.delivered_at is None
    assert dialled == []


def test_a_name_that_stays_unknown_is_sent_nothing(
    alice: User, alice_key: str, resolver: Resolver, dialled: list[str]
) -> None:
    resolver(None, None)
    delivery = sent(saved(alice_key))
    assert "No server was found" in delivery.error and dialled == []


def test_a_name_that_changes_between_check_and_connection_leads_to_the_checked_address(
    alice: User, alice_key: str, resolver: Resolver, dialled: list[str]
) -> None:
    """DNS rebinding: were the name asked for once more, it would lead into our own network."""
    resolver((PUBLIC,), (OTHER,), (PRIVATE,))
    sent(saved(alice_key))
    assert dialled == [OTHER]
