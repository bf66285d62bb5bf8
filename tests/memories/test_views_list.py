import re
from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache

from memories.models import Kind, Memory, MemoryStatus, Origin, RecallTrace, Refusal
from memories.pages import memory_list, reason_words
from memories.projects import find_or_create
from ops.accounts import users
from ops.models import User
from tests.factories import make_conversation, make_memory, make_turn
from tests.memories.pages import (
    address,
    htmx,
    make_binned,
    make_candidate,
    queries_of,
    signed_in,
    text_of,
)

pytestmark = pytest.mark.django_db


def shown(user: User, **query: str) -> str:
    response = signed_in(user).get(address("memory_list", **query))
    assert response.status_code == 200
    return text_of(response)


def test_an_empty_list_teaches_how_memories_come_to_be(alice: User) -> None:
    page = shown(alice)
    assert "Nothing is remembered yet" in page
    assert address("memory_add") in page


def test_the_line_of_truth_says_how_much_and_from_how_many_conversations(alice: User) -> None:
    turns = [make_turn(make_conversation(alice), text) for text in ("I sail", "I ski")]
    make_memory(alice, "Sails", turns=[turns[0]])
    make_memory(alice, "Skis", turns=[turns[1]])
    page = shown(alice)
    assert "Memory is on." in page
    assert "2 things remembered from 2 conversations." in page
    assert "Last learned just now." in page


def test_the_line_of_truth_is_asked_for_when_the_page_is_seen_again(alice: User) -> None:
    line = address("memory_standing")
    assert f'hx-get="{line}" hx-trigger="page-seen from:body"' in shown(alice)
    for is_on in (False, True):
        users.change_settings(user=alice, changes={"longterm_enabled": is_on})
        part = text_of(signed_in(alice).get(line))
        assert ("Memory is on." in part) is is_on
        assert part.strip().startswith("<p") and "<html" not in part
        assert ("Go to the switches" in part) is not is_on
        assert "Go to the switches" not in text_of(signed_in(alice).get(f"{line}?section=settings"))


def test_the_line_of_truth_says_when_memory_is_off(alice: User) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    page = shown(alice)
    assert "Long-term memory is off." in page and "“Earlier moments” is still on" in page
    users.change_settings(user=alice, changes={"episodic_enabled": False})
    page = shown(alice)
    assert "Memory is off." in page and "Earlier moments" not in page
    assert "/memory/data/" in page


def test_a_row_shows_the_words_it_came_from(alice: User) -> None:
    turn = make_turn(make_conversation(alice, title="Weekly report"), "keep it short please")
    make_memory(alice, "Prefers short answers", turns=[turn], kind=Kind.PREFERENCE, access_count=40)
    page = shown(alice)
    assert "“keep it short please”" in page
    assert "from a conversation" in page and "Weekly report" not in page
    assert "used in 40 answers" in page


def test_a_row_gives_each_date_once_and_no_count_of_what_is_always_used(alice: User) -> None:
    turn = make_turn(make_conversation(alice), "no peanuts please")
    make_memory(alice, "No peanuts", turns=[turn], kind=Kind.CONSTRAINT, access_count=2)
    assert "always included" in row_text(alice) and "used in" not in row_text(alice)
    row = shown(alice).split('<li class="row"')[1].split("</li>")[0]
    assert row.count("<time") == 1


def test_a_row_says_when_it_was_changed_on_a_later_day(alice: User) -> None:
    memory = make_memory(alice, "Prefers tea")
    assert "changed" not in row_text(alice)
    began = datetime(2024, 3, 5, 12, tzinfo=UTC)
    Memory.objects.filter(pk=memory.pk).update(
        created_at=began, updated_at=began + timedelta(hours=6)
    )
    assert "changed" not in row_text(alice)
    Memory.objects.filter(pk=memory.pk).update(updated_at=began + timedelta(days=9))
    assert "changed 14 Mar 2024" in row_text(alice)


@pytest.mark.parametrize(
    ("sort", "shown"),
    [("changed", "changed 14 Mar 2024"), ("new", "5 Mar 2024"), ("old", "5 Mar 2024")],
)
def test_the_date_shown_is_the_date_sorted_by(alice: User, sort: str, shown: str) -> None:
    memory = make_memory(alice, "Prefers tea")
    began = datetime(2024, 3, 5, 12, tzinfo=UTC)
    Memory.objects.filter(pk=memory.pk).update(
        created_at=began, updated_at=began + timedelta(days=9)
    )
    assert row_text(alice, sort=sort) == shown


def test_when_it_was_said_stands_beside_the_words(alice: User) -> None:
    turn = make_turn(make_conversation(alice, title="Weekly report"), "keep it short please")
    said = datetime(2024, 3, 5, 12, tzinfo=UTC)
    type(turn.user_message).objects.filter(pk=turn.user_message.pk).update(created_at=said)
    make_memory(alice, "Prefers short answers", turns=[turn])
    quote = re.search(r'<p class="row__quote">(.*?)</p>', shown(alice), re.DOTALL)
    assert quote and re.sub(r"<[^>]+>", "", quote[1]).endswith("5 Mar 2024")


@pytest.mark.parametrize(
    ("said", "memory", "quoted"),
    [
        ("i owe beth 40 quid", "I owe Beth 40 quid", False),
        ("he’s a chef", "[my husband is] a chef", False),
        ("小雅不吃牛肉", "[闺蜜]小雅不吃牛肉", False),
        ("no milk please, it makes me ill", "No milk", True),
        ("我们离学校近，走路五分钟", "家离学校近", True),
    ],
)
def test_words_are_quoted_only_where_they_add_something(
    alice: User, said: str, memory: str, quoted: bool
) -> None:
    turn = make_turn(make_conversation(alice), said)
    make_memory(alice, memory, turns=[turn])
    assert ("row__said" in shown(alice)) is quoted


def row_text(user: User, **query: str) -> str:
    """The words of the list's rows, without markup."""
    found = signed_in(user).get(address("memory_list", **query))
    rows = re.findall(r'<div class="row__meta">.*?</div>', text_of(found), re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", " ".join(rows)).split())


def test_text_of_a_memory_can_not_become_markup(alice: User) -> None:
    make_memory(alice, "<script>alert(1)</script>")
    assert "<script>alert(1)" not in shown(alice)


def test_what_is_binned_waiting_or_superseded_is_not_in_the_list(alice: User) -> None:
    make_binned(alice, "Had a boat")
    make_candidate(alice, "Wants a boat")
    make_memory(alice, "Hates boats", status=MemoryStatus.SUPERSEDED)
    page = shown(alice)
    assert "boat" not in page
    assert "<strong>1</strong> memory is waiting for your review" in page


@pytest.mark.parametrize(
    "query",
    [
        {"kind": "constraint"},
        {"tag": "food"},
        {"status": "disabled"},
        {"origin": "agent"},
        {"project": "boat"},
        {"days": "7", "kind": "constraint"},
    ],
)
def test_each_facet_narrows_the_list(alice: User, query: dict[str, str]) -> None:
    project = find_or_create(user=alice, key="boat")
    make_memory(
        alice,
        "Allergic to peanuts",
        kind=Kind.CONSTRAINT,
        tags=["food"],
        status=MemoryStatus.DISABLED,
        origin=Origin.AGENT,
        project=project,
    )
    make_memory(alice, "Plays chess")
    page = shown(alice, **query)
    assert "Allergic to peanuts" in page
    assert "Plays chess" not in page
    assert "1 memory" in page


def test_choices_that_make_no_sense_are_left_out(alice: User) -> None:
    make_memory(alice, "Plays chess")
    assert "Plays chess" in shown(alice, kind="nonsense", sort="nonsense", days="x", after="%%%")


def test_facets_say_how_many_each_choice_gives(alice: User) -> None:
    make_memory(alice, "Plays chess", tags=["games"])
    make_memory(alice, "Plays go", tags=["games"])
    page = shown(alice)
    assert "fact (2)" in page
    assert "games (2)" in page


def test_a_search_finds_by_meaning_and_leaves_the_rest_out(alice: User) -> None:
    make_memory(alice, "Allergic to peanuts", kind=Kind.CONSTRAINT)
    make_memory(alice, "Lives in a lighthouse")
    page = shown(alice, q="peanut allergy")
    assert "Allergic to peanuts" in page
    assert "lighthouse" not in page


def test_a_search_finds_half_a_word_as_it_is_typed(alice: User) -> None:
    make_memory(alice, "Lives in a lighthouse")
    assert "Lives in a lighthouse" in shown(alice, q="lighth")


def test_a_search_finds_chinese(alice: User) -> None:
    make_memory(alice, "对花生过敏")
    make_memory(alice, "住在杭州")
    page = shown(alice, q="花生")
    assert "对花生过敏" in page
    assert "住在杭州" not in page


@pytest.mark.parametrize(
    ("typed", "known"),
    [
        ("sugar", "type 2 diabetic since 2019"),
        ("medicine", "on metformin twice a day"),
        ("meds", "on metformin twice a day"),
        ("eye test", "retinal screening on 15 December"),
        ("girlfriend", "dating Sandra"),
        ("血糖", "有糖尿病"),
        ("病", "妈妈有高血压"),
        ("药", "在吃二甲双胍"),
        ("过敏", "儿子一吃虾就起疹子"),
        ("太太", "我老婆叫小雅"),
        ("旅行", "下周五去北京出差"),
        ("trip", "flying to Berlin next Friday"),
    ],
)
def test_a_search_finds_by_everyday_concepts(alice: User, typed: str, known: str) -> None:
    make_memory(alice, known)
    make_memory(alice, "Lives in a lighthouse")
    page = shown(alice, q=typed)
    assert known in page and "lighthouse" not in page


@pytest.mark.parametrize(("typed", "known"), [("药", "每天吃降压药"), ("hthou", "In a lighthouse")])
def test_a_search_finds_a_part_of_a_word_beyond_what_is_ranked(
    alice: User, monkeypatch: pytest.MonkeyPatch, typed: str, known: str
) -> None:
    make_memory(alice, known)
    monkeypatch.setattr(memory_list, "rank", lambda *_, **__: [])
    assert known in shown(alice, q=typed)


def test_a_search_also_looks_among_disabled_ones_and_keeps_no_trace(alice: User) -> None:
    make_memory(alice, "Lives in a lighthouse", status=MemoryStatus.DISABLED)
    assert "Lives in a lighthouse" in shown(alice, q="lighthouse")
    assert not RecallTrace.objects.exists()


def test_a_search_that_finds_nothing_says_so(alice: User) -> None:
    make_memory(alice, "Lives in a lighthouse")
    assert "No matches" in shown(alice, q="zzzz qqqq")


def test_while_memory_is_off_a_search_looks_for_the_letters(alice: User) -> None:
    make_memory(alice, "Lives in a lighthouse")
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    assert "Lives in a lighthouse" in shown(alice, q="LIGHTHOUSE")


def test_htmx_gets_only_what_was_found_and_a_clean_address(alice: User) -> None:
    make_memory(alice, "Lives in a lighthouse")
    url = address("memory_list", q="light", kind="", sort="")
    response = signed_in(alice).get(url, headers=htmx("found"))
    assert text_of(response).lstrip().startswith('<div id="found">')
    assert "<html" not in text_of(response)
    assert response["HX-Replace-Url"] == "/memory/long-term/?q=light"


@pytest.mark.parametrize("sort", ["changed", "new", "old", "used", "important"])
def test_paging_shows_each_memory_once_and_pinned_ones_first(alice: User, sort: str) -> None:
    for number in range(45):
        make_memory(
            alice,
            f"Fact number {number}.",
            pinned=number % 2 == 0,
            access_count=number % 3,
            importance=(number % 5) / 10,
            status=MemoryStatus.DISABLED if number % 4 == 0 else MemoryStatus.ACTIVE,
        )
    client, seen = signed_in(alice), []
    url: str | None = address("memory_list", sort=sort)
    while url:
        page = text_of(client.get(url))
        seen += re.findall(r'class="row__title"[^>]*>Fact number (\d+)\.', page)
        following = re.search(r'class="button" href="([^"]*after=[^"]*)"', page)
        url = following[1].replace("&amp;", "&") if following else None
    assert sorted(map(int, seen)) == list(range(45))
    assert [int(number) % 2 for number in seen] == 23 * [0] + 22 * [1]


def test_scrolling_asks_for_rows_only(alice: User) -> None:
    for number in range(25):
        make_memory(alice, f"Fact number {number}.")
    client = signed_in(alice)
    found = re.search(r'href="([^"]*after=[^"]*)"', text_of(client.get(address("memory_list"))))
    assert found
    more = text_of(client.get(found[1].replace("&amp;", "&"), headers=htmx("")))
    assert more.count('<li class="row') == 5
    assert "<html" not in more


def test_the_list_sorted_by_use_begins_with_the_most_used(alice: User) -> None:
    make_memory(alice, "Seldom", access_count=1)
    make_memory(alice, "Often", access_count=9)
    page = shown(alice, sort="used")
    assert page.index("Often") < page.index("Seldom")


def _fill(user: User, count: int) -> None:
    turn = make_turn(make_conversation(user), "I like many things")
    for number in range(count):
        make_memory(user, f"Likes thing {number}", turns=[turn], tags=[f"t{number % 3}"])


def test_the_number_of_queries_does_not_grow_with_the_list(alice: User) -> None:
    _fill(alice, 2)
    few = queries_of(alice, address("memory_list"))
    _fill(alice, 15)
    assert queries_of(alice, address("memory_list")) == few


def test_those_with_very_many_are_counted_seldom_and_the_same(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fill(alice, 4)
    make_binned(alice, "Had a boat")
    make_candidate(alice, "Wants a boat")
    make_memory(alice, "Row the boat", project=find_or_create(user=alice, key="boat"))
    each_time = memory_list.survey_of(alice)
    assert each_time.totals.memories == 5
    monkeypatch.setattr(memory_list, "COUNTED", 2)
    assert memory_list.survey_of(alice) == each_time
    make_memory(alice, "One more")
    assert memory_list.survey_of(alice) == each_time
    cache.clear()
    assert memory_list.survey_of(alice).totals.memories == 6


def test_those_with_very_many_cost_no_more_queries(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fill(alice, 30)
    few = queries_of(alice, address("memory_list"))
    monkeypatch.setattr(memory_list, "COUNTED", 2)
    queries_of(alice, address("memory_list"))
    assert queries_of(alice, address("memory_list")) == few


def test_a_refusal_is_linked_and_says_only_what_kind_of_secret_it_was(alice: User) -> None:
    turn = make_turn(make_conversation(alice, title="Passwords"), "my password is hunter2")
    Refusal.objects.create(user=alice, turn=turn, category="password")
    assert address("memory_refusals") in shown(alice)
    page = text_of(signed_in(alice).get(address("memory_refusals")))
    assert "Password" in page
    assert "hunter2" not in page


def test_the_bin_counts_down_and_offers_both_ways_out(alice: User) -> None:
    memory = make_binned(alice, "Had a boat")
    page = text_of(signed_in(alice).get(address("memory_bin")))
    assert "7 days left" in page
    assert address("memory_restore", memory.public_id) in page
    assert address("memory_forget", memory.public_id) in page


@pytest.mark.parametrize("name", ["memory_bin", "memory_review", "memory_refusals"])
def test_the_other_lists_ask_as_often_however_long_they_are(alice: User, name: str) -> None:
    _fill_other_lists(alice)
    few = queries_of(alice, address(name))
    _fill_other_lists(alice)
    assert queries_of(alice, address(name)) == few


def _fill_other_lists(user: User) -> None:
    for number in range(3):
        turn = make_turn(make_conversation(user), f"thing {number}")
        make_binned(user, f"Had {number}")
        make_candidate(user, f"Wants {number}", against=make_memory(user, "Knew", turns=[turn]))
        Refusal.objects.create(user=user, turn=turn, category="card")


def test_the_pinned_ones_alone_can_be_shown_once_there_are_any(alice: User) -> None:
    make_memory(alice, "Prefers green tea")
    client = signed_in(alice)
    assert 'name="pinned"' not in text_of(client.get(address("memory_list")))
    make_memory(alice, "Allergic to peanuts", pinned=True)
    assert 'name="pinned"' in text_of(client.get(address("memory_list")))
    page = text_of(client.get(address("memory_list", pinned="1")))
    assert "peanuts" in page
    assert "green tea" not in page


def test_a_chosen_filter_marks_the_button_of_the_filters_at_once(alice: User) -> None:
    make_memory(alice, "Sails", kind=Kind.CONSTRAINT)
    url = address("memory_list", kind=Kind.CONSTRAINT)
    page = text_of(signed_in(alice).get(url, headers=htmx("found")))
    button = re.search(r'<button[^>]*id="filters-more"[^>]*hx-swap-oob="true".*?</button>', page)
    assert button is not None and '<span class="button__count">1</span>' in button.group()


def test_a_topic_has_one_tag_in_the_language_of_the_page(alice: User) -> None:
    make_memory(alice, "Eats no meat", tags=["food"])
    make_memory(alice, "爱吃甜水面", tags=["饮食"])
    make_memory(alice, "Sings", tags=["choir"])
    page = text_of(signed_in(alice).get(address("memory_list")))
    assert "food (2)" in page and "饮食" not in page
    assert "choir (1)" in page
    found = text_of(signed_in(alice).get(address("memory_list", tag="饮食")))
    assert "2 memories" in found


@pytest.mark.parametrize("tags", [["food", "饮食"], ["饮食", "food"]])
def test_a_memory_with_both_tags_of_a_topic_shows_and_counts_one(
    alice: User, tags: list[str]
) -> None:
    memory = make_memory(alice, "Eats no meat", tags=tags)
    make_memory(alice, "Sings", tags=["Food"])  # typed by a person, so not the topic's tag
    page = text_of(signed_in(alice).get(address("memory_list")))
    assert "food (1)" in page and "Food (1)" in page and "饮食" not in page
    detail = text_of(signed_in(alice).get(address("memory_page", memory.public_id)))
    assert detail.count("?tag=") == 1 and "?tag=food" in detail
    chosen = text_of(signed_in(alice).get(address("memory_list", tag="饮食")))
    assert '<option value="饮食" selected>food (1)</option>' in chosen


def test_a_person_is_offered_no_kinds_of_projects(alice: User) -> None:
    browser = signed_in(alice)
    added = text_of(browser.get(address("memory_add")))
    assert "requirement" not in added and 'value="plan"' not in added
    assert "task – what you want or have to do" in added
    own = make_memory(alice, "Sings")
    assert "requirement" not in text_of(browser.get(address("memory_edit", own.public_id)))
    work = make_memory(alice, "Must run offline", kind=Kind.REQUIREMENT)
    assert "requirement" in text_of(browser.get(address("memory_edit", work.public_id)))


@pytest.mark.parametrize(
    "typed", ["mush", "mushrom", "mushrooom", "mushroms", "muhsroom", "bake mushroo"]
)
def test_a_search_finds_word_beginnings_and_forgives_one_slip(alice: User, typed: str) -> None:
    make_memory(alice, "Bakes mushrooms in butter")
    make_memory(alice, "Repairs old typewriters")
    page = signed_in(alice).get(address("memory_list"), {"q": typed})
    assert [row.memory.content for row in page.context["rows"]][:1] == ["Bakes mushrooms in butter"]
    assert "same words:" in text_of(page)


@pytest.mark.parametrize(
    ("typed", "text", "found"),
    [
        ("cat", "Owns a cat", ["cat"]),
        ("cat", "Owns a cot", []),
        ("pennicillin", "allergic to Penicillin", ["penicillin"]),
        ("yorkshre water", "works at Yorkshire Water", ["yorkshire", "water"]),
        ("12345", "has the number 12346", []),
        ("a peanut", "Likes nuts", []),
        ("when is the holliday", "Holiday in Menorca in July", ["holiday"]),
        ("who is vegen", "my sister jen is vegan", ["vegan"]),
        ("wensday", "gymnastics is on wednesdays", ["wednesdays"]),
        ("what is", "what is new", ["what", "is"]),
        ("tuesday", "gymnastics is on thursday", []),
    ],
)
def test_each_word_must_be_spelled_alike(typed: str, text: str, found: list[str]) -> None:
    assert reason_words.spelled_alike(typed, text) == found


def test_a_search_also_finds_what_awaits_review(alice: User) -> None:
    make_memory(alice, "Plays the oboe", status=MemoryStatus.CANDIDATE)
    page = signed_in(alice).get(address("memory_list"), {"q": "oboe"})
    assert "Plays the oboe" in text_of(page)
    assert "Plays the oboe" not in text_of(signed_in(alice).get(address("memory_list")))


def test_a_search_without_matches_says_where_it_looked(alice: User) -> None:
    make_memory(alice, "Owns a red canoe", status=MemoryStatus.SUPERSEDED)
    page = text_of(signed_in(alice).get(address("memory_list", q="canoe")))
    everywhere = address("memory_list", q="canoe", status="any")
    assert "outdated ones or the recycle bin" in page
    assert everywhere.replace("&", "&amp;") in page
    assert "Owns a red canoe" in text_of(signed_in(alice).get(everywhere))
