"""How much is remembered is one number on every page; the list is in the order of its dates."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from memories.models import Kind, Memory, MemoryStatus, RecallHit
from memories.projects import find_or_create
from ops.models import User
from tests.factories import make_memory, make_trace
from tests.memories.pages import address, htmx, make_binned, make_candidate, signed_in, text_of

pytestmark = pytest.mark.django_db

BEGAN = datetime(2024, 3, 1, 12, tzinfo=UTC)
COUNT, LISTED = 6, 8


@pytest.fixture
def client(alice: User) -> Client:
    """Six memories in use, and one of each other kind. Two of those are in the list."""
    project = find_or_create(user=alice, key="atlas")
    for number, kind in enumerate(("constraint", "fact", "fact", "plan", "preference")):
        make_memory(alice, f"Number {number}", kind=kind, pinned=number == 1)
    make_memory(alice, "Builds with make", project=project, tags=["work"])
    make_memory(alice, "Is switched off", status=MemoryStatus.DISABLED)
    make_memory(alice, "Is over", valid_until=BEGAN)
    make_memory(alice, "Was replaced", status=MemoryStatus.SUPERSEDED)
    make_memory(alice, "Was archived", status=MemoryStatus.ARCHIVED)
    make_memory(alice, "Is being forgotten", hidden_at=BEGAN)
    make_binned(alice, "Had a boat")
    make_candidate(alice, "Wants a boat")
    return signed_in(alice)


@pytest.mark.parametrize(
    "name",
    [
        "memory_home",
        "memory_conversation",
        "memory_list",
        "data_management",
        "settings_page",
    ],
)
def test_the_line_of_truth_says_the_same_number_on_every_page(client: Client, name: str) -> None:
    assert f"{COUNT} things remembered" in text_of(client.get(address(name)))


def test_the_list_and_its_choices_hold_as_many(client: Client) -> None:
    page = text_of(client.get(address("memory_list")))
    assert f"{LISTED} memories, {COUNT} of them in use" in page
    assert page.count('<li class="row') == LISTED
    choices = page.split('name="kind"')[1].split("</select>")[0]
    assert sum(map(int, re.findall(r"\((\d+)\)</option>", choices))) == LISTED


def test_the_charts_hold_as_many(client: Client) -> None:
    page = text_of(client.get(address("memory_pictures")))
    assert f"Today is the first day: {COUNT} so far." in page
    Memory.objects.filter(content="Number 0").update(created_at=BEGAN)
    page = text_of(client.get(address("memory_pictures")))
    assert f"It grew to {COUNT} " in page
    assert f"of {COUNT} memories" in page and f"{COUNT} memories in use" in page
    for title in ("Memories by topic", "Memories by kind"):
        table = page.split(f">{title}</caption>")[1].split("</table>")[0]
        assert sum(map(int, re.findall(r'bars__value">(\d+)<', table))) == COUNT


def test_data_management_holds_as_many(client: Client) -> None:
    page = text_of(client.get(address("data_management")))
    row = page.split("Memories in use")[1].split("</tr>")[0]
    assert re.findall(r'amounts__number">(\d+)<', row) == [str(COUNT)]


@pytest.mark.parametrize(
    ("sort", "newest_first"), [("changed", True), ("new", True), ("old", False)]
)
def test_rows_stand_in_the_order_of_the_dates_they_show(
    alice: User, sort: str, newest_first: bool
) -> None:
    """They were changed in another order than they came."""
    for number in range(8):
        memory = make_memory(alice, f"Number {number}", kind=Kind.FACT, pinned=number in (2, 5))
        Memory.objects.filter(pk=memory.pk).update(
            created_at=BEGAN + timedelta(days=number),
            updated_at=BEGAN + timedelta(days=60 + (number * 5) % 8),
        )
    page = text_of(signed_in(alice).get(address("memory_list", sort=sort)))
    rows = re.findall(r'<div class="row__meta">(.*?)</div>', page, re.DOTALL)
    dates = [datetime.strptime(_date_in(one), "%d %b %Y").replace(tzinfo=UTC) for one in rows]
    assert len(set(dates)) == 8
    assert ["row__pin" in one for one in rows] == [True] * 2 + [False] * 6
    assert "Pinned first, then by" in page
    for part in (dates[:2], dates[2:]):
        assert part == sorted(part, reverse=newest_first)


def test_where_nothing_is_pinned_the_list_does_not_speak_of_it(alice: User) -> None:
    make_memory(alice, "Keeps bees")
    page = text_of(signed_in(alice).get(address("memory_list")))
    assert "Pinned first" not in page and "Sort by</span>" in page


def _date_in(row: str) -> str:
    found = re.search(r"\d{1,2} [A-Z][a-z]{2} \d{4}", re.sub(r"<[^>]+>", " ", row))
    assert found is not None, row
    return found[0]


@pytest.mark.parametrize("action", ["disable", "delete"])
def test_the_line_follows_what_is_done_to_a_row(client: Client, alice: User, action: str) -> None:
    memory = Memory.objects.get(content="Number 0")
    headers = htmx(f"row-{memory.public_id}")
    done = client.post(address(f"memory_{action}", memory.public_id), headers=headers)
    assert f"{COUNT - 1} things remembered" in text_of(done)
    bulk: dict[str, object] = {
        "ids": [one.public_id for one in Memory.objects.filter(content__startswith="Number")]
    }
    bulk["do"] = "recycle"
    done = client.post(address("memory_bulk"), bulk, headers=htmx("toasts"))
    assert "1 thing remembered" in text_of(done)


def test_the_number_of_answers_is_one_on_the_row_the_page_and_the_tab(
    client: Client, alice: User
) -> None:
    memory = Memory.objects.get(content="Number 2")
    for _ in range(2):
        make_trace(alice, "Where to?", hits=[memory.public_id])
    RecallHit.objects.update(in_block=True, components={"raw_relevance": 0.9})
    Memory.objects.filter(pk=memory.pk).update(access_count=7)
    page = text_of(client.get(address("memory_page", memory.public_id, show="used")))
    assert "Used in 7 answers." in page
    assert page.count('<li class="use">') == 2
    assert "5 more answers used it." in page
    row = text_of(client.get(address("memory_list"))).split(f'id="row-{memory.public_id}"')[1]
    assert "used in 7 answers" in row.split("</time></div>")[0]


def test_answers_that_a_constraint_does_not_fit_are_not_counted_but_it_says_it_is_always_there(
    client: Client, alice: User
) -> None:
    memory = Memory.objects.get(content="Number 0")
    for relevance in (0.0, 0.9):
        trace = make_trace(alice, "Where to?", hits=[memory.public_id])
        RecallHit.objects.filter(trace=trace).update(
            in_block=True, components={"raw_relevance": relevance}
        )
    Memory.objects.filter(pk=memory.pk).update(access_count=1)
    page = text_of(client.get(address("memory_page", memory.public_id, show="used")))
    assert "Always included in answers. Used in 1 answer." in " ".join(page.split())
    assert page.count('<li class="use">') == 1
    listed = text_of(client.get(address("memory_list")))
    row = listed.split(f'id="row-{memory.public_id}"')[1].split("</time></div>")[0]
    assert "always included" in row


def test_what_was_only_in_an_answer_because_it_was_pinned_is_not_called_used_later(
    client: Client, alice: User
) -> None:
    memory = Memory.objects.get(content="Number 2")
    make_trace(alice, "Where to?", hits=[memory.public_id])
    RecallHit.objects.update(in_block=True, components={"raw_relevance": 0.1})
    page = text_of(client.get(address("memory_page", memory.public_id, show="used")))
    assert "Not used in any answer yet." in page and "Not used yet" in page
    assert '<li class="use">' not in page


def test_a_use_that_could_not_be_counted_is_said_where_its_answer_is_listed(
    client: Client, alice: User
) -> None:
    memory = Memory.objects.get(content="Number 2")
    make_trace(alice, "Where to?", hits=[memory.public_id])
    RecallHit.objects.update(in_block=True, components={"raw_relevance": 0.9})
    page = text_of(client.get(address("memory_page", memory.public_id, show="used")))
    assert "Used in 1 answer." in page and page.count('<li class="use">') == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"status": MemoryStatus.DISABLED},
        {"status": MemoryStatus.ARCHIVED},
        {"valid_until": BEGAN},
        {"deleted_at": BEGAN, "purge_at": BEGAN},
    ],
    ids=["disabled", "archived", "expired", "deleted"],
)
@pytest.mark.parametrize(
    "always", [{"standing": True}, {"pinned": True}, {"kind": Kind.CONSTRAINT}]
)
def test_what_is_not_in_use_is_not_called_always_included(
    alice: User, fields: dict[str, Any], always: dict[str, Any]
) -> None:
    memory = make_memory(alice, "Prefers short answers", **always, **fields)
    client = signed_in(alice)
    for page in (address("memory_page", memory.public_id), address("memory_list")):
        text = re.sub(r'(?s)<details class="menu.*?</details>', "", text_of(client.get(page)))
        assert "always included" not in text.lower(), page


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        ([], ""),
        (["Keeps bees"], "1 match"),
        (["Keeps bees", "Feeds bees"], "2 matches, best first"),
    ],
)
def test_only_several_matches_have_an_order(alice: User, texts: list[str], line: str) -> None:
    make_memory(alice, "Lives in Brno")
    for text in texts:
        make_memory(alice, text)
    page = text_of(signed_in(alice).get(address("memory_list"), {"q": "bees"}))
    found = page.split("found-line")[1].split("</p>")[0]
    assert (line or "Show all") in found
    assert ("best first" in found) is (len(texts) > 1)
    assert page.count("No matches") == (0 if texts else 1)
