"""Every page stays light, whoever opens it: under 100 kB and 20 queries, however much there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from ops.accounts import users
from ops.models import User
from tests.memories.pages import signed_in
from tests.pages import PAGES, Seen, lived_in

MOST_BYTES = 100_000
MOST_QUERIES = 20
# Pages of no weight: they lead on, give a file, or are a fragment of another page.
LIGHT = {
    "conversation_new",
    "temporary_new",
    "turn_lessons",
    "forget_receipt",
    "export_download",
    "receipt_download",
    "first_password",  # who has one is led on
    "import_file",
    "memory_standing",
}
_FEW, _MANY = 10, 300


@pytest.fixture
def people(db: None) -> dict[int, tuple[User, Seen]]:
    found = {}
    for size in (_FEW, _MANY):
        user = users.register(username=f"reader{size}", password="correct-horse-battery")
        found[size] = (user, lived_in(user, size=size))
    return found


def weighed(client: Client, address: str) -> tuple[int, int]:
    """Bytes and queries of a page, without the tests' own savepoints."""
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code)
    asked = [one for one in queries if "SAVEPOINT" not in (one["sql"] or "")]
    return len(answer.content), len(asked)


def test_every_page_is_light_and_costs_the_same_with_much_as_with_little(
    people: dict[int, tuple[User, Seen]],
) -> None:
    clients = {size: signed_in(user) for size, (user, _seen) in people.items()}
    heavy = []
    for name, address in PAGES.items():
        weights = {
            size: weighed(clients[size], address(seen)) for size, (_user, seen) in people.items()
        }
        (_, few), (size, many) = weights[_FEW], weights[_MANY]
        if size > MOST_BYTES or many > MOST_QUERIES or many > few:
            heavy.append((name, weights))
    assert heavy == []


def _named(patterns: Sequence[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for one in patterns:
        if isinstance(one, URLResolver):
            yield from _named(one.url_patterns) if one.namespace is None else ()  # not the admin's
        elif one.name:
            yield one


def _leads_to_signing_in(one: URLPattern) -> bool:
    """Whether a visitor who opens it is led to signing in: it is a person's, and answers GET."""
    given = dict.fromkeys(one.pattern.regex.groupindex, "1")
    answer = Client().get(reverse(str(one.name), kwargs=given))
    return answer.status_code == 302 and "?next=" in answer["Location"]


@pytest.mark.django_db
def test_every_page_that_can_be_opened_is_weighed() -> None:
    known = {name.partition(" ")[0] for name in PAGES} | LIGHT
    pages = {one.name for one in _named(get_resolver().url_patterns) if _leads_to_signing_in(one)}
    assert {"memory_list", "memory_week"} <= pages
    assert pages - known == set()
