from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from memories.models import Kind as MemoryKind
from memories.models import Memory, Project
from memories.pages import charts
from ops.models import Kind, Operation, User
from tests.factories import make_conversation, make_memory, make_trace, make_turn
from tests.memories.pages import address, signed_in, text_of

pytestmark = pytest.mark.django_db


def test_growth_counts_what_there_was_at_the_end_of_each_day(alice: User) -> None:
    now = timezone.now()
    for days in (3, 3, 1):
        make_memory(alice, f"From {days} days ago", created_at=now - timedelta(days=days))
    grown = charts.growth_of(alice)["memories"]
    assert list(grown.totals) == [2, 2, 3, 3]
    assert grown.days[-1] == timezone.localdate()


def test_a_memory_counts_from_when_it_was_said(alice: User) -> None:
    turn = make_turn(make_conversation(alice), "I keep bees.")
    turn.user_message.created_at = timezone.now() - timedelta(days=2)
    turn.user_message.save()
    make_memory(alice, "Keeps bees", turns=[turn])
    assert list(charts.growth_of(alice)["memories"].totals) == [1, 1, 1]


def test_years_fit_into_sixty_points(alice: User) -> None:
    make_memory(alice, "Old", created_at=timezone.now() - timedelta(days=3_000))
    grown = charts.growth_of(alice)["memories"]
    assert len(grown.days) <= charts.POINTS and grown.totals[-1] == 1


def test_latency_says_how_many_recalls_fell_into_each_class(alice: User) -> None:
    for took in (1.0, 7.0, 7.5, 900.0):
        make_trace(alice, "what?", took_ms=took)
    found = charts.latency_of(alice)
    assert list(found.counts) == [1, 2, 0, 0, 0, 0, 0, 1]
    assert (found.p50, found.p99) == (7.5, 900.0)


def test_nobodys_rows_count_for_another(alice: User, mallory: User) -> None:
    make_memory(alice, "Keeps bees")
    make_trace(alice, "what?", took_ms=3)
    assert charts.growth_of(mallory)["memories"].totals == ()
    assert not any(charts.storage_of(mallory).values())
    assert charts.latency_of(mallory).total == 0


def test_the_first_day_is_a_sentence_and_no_curve(alice: User) -> None:
    make_memory(alice, "Keeps bees")
    page = text_of(signed_in(alice).get(address("memory_pictures")))
    assert "Today is the first day: 1 so far." in page and "<polyline" not in page


def test_the_page_draws_each_picture_with_its_table(alice: User) -> None:
    memory = make_memory(alice, "Keeps bees")
    Memory.objects.filter(pk=memory.pk).update(created_at=timezone.now() - timedelta(days=3))
    make_trace(alice, "what?", took_ms=3)
    page = text_of(signed_in(alice).get(address("memory_pictures")))
    assert "<polyline" in page and page.count("<table") == 5
    titles = (
        "Memories over time",
        "Memories by topic",
        "Memories by kind",
        "Storage",
        "Recall time",
    )
    for title in titles:
        assert title in page


def test_topics_are_those_of_the_portrait_and_then_projects(alice: User, mallory: User) -> None:
    make_memory(alice, "Allergic to peanuts", tags=["health"])
    make_memory(alice, "对花生过敏", tags=["健康"])
    make_memory(alice, "Moves in May", kind=MemoryKind.PLAN)
    project = Project.objects.create(user=alice, key="atlas")
    make_memory(alice, "Builds with make", project=project)
    make_memory(mallory, "Knits", tags=["hobbies"])
    assert charts.topics_of(alice) == {"Health": 2, "Plans": 1, "Projects": 1}


def test_the_most_used_memories_lead_to_their_pages(alice: User, mallory: User) -> None:
    memory = make_memory(alice, "Keeps <bees>", access_count=12)
    make_memory(alice, "Never used")
    make_memory(mallory, "Not alice's", access_count=50)
    found = charts.uses_of(alice)
    assert (found.memories, found.used, list(found.most)) == (2, 1, [memory])
    page = text_of(signed_in(alice).get(address("memory_pictures")))
    assert "1 of 2 memories were used in answers." in page
    assert f'href="{address("memory_page", memory.public_id)}"' in page
    assert "Keeps &lt;bees&gt;" in page and "Not alice" not in page


def test_how_fast_recall_is_stands_behind_for_developers(alice: User) -> None:
    make_trace(alice, "what?", took_ms=3)
    before, behind = text_of(signed_in(alice).get(address("memory_pictures"))).split(
        'id="for-developers"'
    )
    assert "Recall time" in behind and "Recall time" not in before


def test_the_page_of_a_newcomer_says_that_there_is_nothing(alice: User) -> None:
    page = text_of(signed_in(alice).get(address("memory_pictures")))
    assert "<polyline" not in page and "Nothing has been recalled yet." in page


def test_a_newcomers_list_lets_them_write_one_thing_down(alice: User) -> None:
    client = signed_in(alice)
    assert 'name="content"' in text_of(client.get(address("memory_list")))
    client.post(address("memory_add"), {"content": "Keeps bees", "next": "/memory/long-term/"})
    assert 'id="first-memory"' not in text_of(client.get(address("memory_list")))


def test_a_project_is_forgotten_from_its_list(alice: User) -> None:
    project = Project.objects.create(user=alice, key="atlas", name="Atlas")
    make_memory(alice, "Builds with make", project=project)
    client, url = signed_in(alice), address("project_forget", "atlas")
    assert url in text_of(client.get(address("memory_list", project="atlas")))
    asked = text_of(client.get(url))
    assert "Forget the project “Atlas”?" in asked and "1 memory, with its versions" in asked
    client.post(url)
    assert not Memory.objects.filter(user=alice).exists()
    assert Operation.objects.get(subject=alice.subject).kind == Kind.FORGET_PROJECT


def test_a_strangers_project_is_not_found(alice: User, mallory: User) -> None:
    Project.objects.create(user=alice, key="atlas")
    url = address("project_forget", "atlas")
    assert signed_in(mallory).get(url).status_code == 404
    assert signed_in(mallory).post(url).status_code == 404
    assert Project.objects.filter(user=alice).exists()
