"""The list of conversations."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from redis.exceptions import ConnectionError as RedisConnectionError

from conversations.models import Conversation
from conversations.recording import temporary
from ops.models import User
from tests.factories import make_conversation, make_message
from tests.memories.pages import address, htmx, queries_of, text_of

pytestmark = pytest.mark.django_db


def make_old(user: User, title: str, *, days: int) -> Conversation:
    made = make_conversation(user, title=title)
    make_message(made, f"About {title}")
    made.last_message_at = timezone.now() - timedelta(days=days)
    made.save(update_fields=["last_message_at"])
    return made


def test_conversations_stand_under_their_days_newest_first(alice: User, client: Client) -> None:
    for title, days in (("Long ago", 40), ("This day", 0), ("The day before", 1)):
        make_old(alice, title, days=days)
    text = text_of(client.get("/", headers=htmx("conversation-list")))
    expected = ["Today", "This day", "Yesterday", "The day before", "Earlier", "Long ago"]
    places = [text.index(f">{words}<") for words in expected]
    assert places == sorted(places)


def test_a_conversation_without_messages_is_listed_by_when_it_was_made(
    alice: User, client: Client
) -> None:
    make_conversation(alice, title="Empty", created_at=timezone.now() - timedelta(days=9))
    make_old(alice, "Yesterday's", days=1)
    text = text_of(client.get("/", headers=htmx("conversation-list")))
    assert text.index("Yesterday&#x27;s") < text.index("Empty")


@pytest.mark.parametrize("query", ["bees", "BEES", "honey", "蜂蜜"])
def test_search_finds_titles_and_what_was_said(alice: User, client: Client, query: str) -> None:
    found = make_old(alice, "Bees", days=3)
    make_message(found, "The honey is ready. 蜂蜜好了。")
    make_old(alice, "Taxes", days=0)
    text = text_of(client.get(address("conversation_new", q=query)))
    assert ">Bees<" in text
    assert ">Taxes<" not in text


def test_what_is_found_leads_to_its_place(alice: User, client: Client) -> None:
    found = make_old(alice, "Bees", days=3)
    said = [make_message(found, text) for text in ("Honey is ready.", "Sold the (honey!)", "Bye.")]
    page = text_of(client.get(address("conversation_new", q="(Honey")))
    place = f"/c/{found.public_id}/?at={said[1].public_id}&amp;q=%28Honey#{said[1].public_id}"
    assert f'href="{place}"' in page and "Sold the <mark>(honey</mark>!)" in page
    shown = text_of(client.get(f"/c/{found.public_id}/?at={said[1].public_id}&q=honey"))
    assert f'id="{said[1].public_id}"' in shown and "<mark>honey</mark>" in shown


def test_a_title_alone_leads_to_the_conversation(alice: User, client: Client) -> None:
    found = make_conversation(alice, title="Bees")
    page = text_of(client.get(address("conversation_new", q="bees")))
    assert f'href="/c/{found.public_id}/"' in page and "conversation__said" not in page


def test_a_search_without_result_says_so(alice: User, client: Client) -> None:
    make_old(alice, "Taxes", days=0)
    url = address("conversation_new", q="bees")
    text = text_of(client.get(url, headers=htmx("conversation-list")))
    assert "No matching conversations." in text
    assert "<html" not in text


def test_a_long_list_goes_on_from_where_it_stopped(alice: User, client: Client) -> None:
    made = [make_old(alice, f"Talk {number}.", days=number) for number in range(3, 38)]
    first = text_of(client.get("/"))
    assert "Talk 22." in first
    assert "Talk 23." not in first
    assert f"after={made[19].public_id}" in first
    more = text_of(client.get(f"/?after={made[19].public_id}", headers=htmx("")))
    assert "Talk 23." in more
    assert "Talk 22." not in more
    assert "Earlier" not in more


def test_an_unknown_place_in_the_list_is_its_beginning(alice: User, client: Client) -> None:
    make_old(alice, "Taxes", days=0)
    assert "Taxes" in text_of(client.get("/?after=conv_unknown"))


def test_the_list_works_without_redis(
    alice: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(user: User) -> None:
        raise RedisConnectionError

    make_old(alice, "Taxes", days=0)
    monkeypatch.setattr(temporary, "list_conversations", fail)
    assert "Taxes" in text_of(client.get("/"))


@pytest.mark.parametrize("page", ["/", "/?q=about"])
def test_more_conversations_take_no_more_queries(alice: User, page: str) -> None:
    counts = []
    for size in (5, 25):
        for number in range(size):
            make_old(alice, f"Talk {size} {number}", days=number)
        counts.append(queries_of(alice, page))
    assert counts[0] == counts[1]
