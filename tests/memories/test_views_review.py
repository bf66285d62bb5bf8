import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memories.models import Arbitration, Change, Kind, Memory, MemoryStatus, Relation
from ops.accounts import users
from ops.models import User
from tests.factories import make_conversation, make_memory, make_turn, make_version
from tests.memories.pages import address, make_candidate, signed_in, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def known(alice: User) -> Memory:
    return make_memory(alice, "Lives in Hamburg")


@pytest.fixture
def heard(alice: User, known: Memory) -> Memory:
    return make_candidate(alice, "Lives in Bremen", against=known)


def decide(user: User, candidate: Memory, decision: str, **fields: str) -> str:
    url = address("memory_decide", candidate.public_id)
    response = signed_in(user).post(url, {"decision": decision, **fields}, follow=True)
    assert response.status_code == 200
    return text_of(response)


def test_both_sides_stand_beside_each_other_with_the_difference_marked(
    alice: User, heard: Memory
) -> None:
    page = text_of(signed_in(alice).get(address("memory_review")))
    knew, just_heard = page.split("I just heard", 1)
    assert 'Lives in <mark class="review__old">Hamburg</mark>' in knew
    assert 'Lives in <mark class="review__new">Bremen</mark>' in just_heard
    for key in "1234":
        assert f'data-key="{key}"' in page


def test_what_also_waits_says_what_it_contradicts(
    alice: User, known: Memory, heard: Memory
) -> None:
    first = Memory.objects.get(pk=make_candidate(alice, "Keeps bees", against=known).pk)
    url = f"{address('memory_review')}?candidate={first.public_id}"
    others = text_of(signed_in(alice).get(url)).split("Also waiting", 1)[1]
    assert "Lives in Bremen" in others and "It may contradict this memory:" in others
    assert f'href="{address("memory_page", known.public_id)}"' in others
    assert "Lives in Hamburg" in others
    now = timezone.now()
    Memory.objects.filter(pk=known.pk).update(deleted_at=now, purge_at=now + timedelta(days=7))
    assert "It may contradict this memory:" not in text_of(signed_in(alice).get(url))


def test_an_empty_inbox_says_what_would_come_here(alice: User) -> None:
    assert "Nothing to decide" in text_of(signed_in(alice).get(address("memory_review")))


def test_keep_new_takes_the_place_of_the_old(alice: User, known: Memory, heard: Memory) -> None:
    assert "The new one is used" in decide(alice, heard, "keep_new")
    known.refresh_from_db()
    heard.refresh_from_db()
    assert (known.status, known.superseded_by) == (MemoryStatus.SUPERSEDED, heard)
    assert heard.status == MemoryStatus.ACTIVE


def test_keep_old_drops_what_was_heard(alice: User, known: Memory, heard: Memory) -> None:
    assert "What I knew is still used." in decide(alice, heard, "keep_old")
    assert set(Memory.objects.filter(user=alice)) == {known}


def test_neither_puts_both_into_the_recycle_bin(alice: User, known: Memory, heard: Memory) -> None:
    assert "Neither is used." in decide(alice, heard, "keep_neither")
    assert not Memory.objects.filter(user=alice).exists()
    assert set(Memory.visible.filter(user=alice)) == {known, heard}


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("it's just me and the dog", "They have no words in common"),
        ("I walk the dog of my neighbour at seven", "little in common"),
    ],
)
def test_texts_with_little_in_common_are_shown_whole_and_both_true_is_first(
    alice: User, new: str, said: str
) -> None:
    known = make_memory(alice, "My name is Walk-Anna, born in May in Porto")
    make_candidate(alice, new, against=known)
    page = text_of(signed_in(alice).get(address("memory_review")))
    assert said in page and "<mark" not in page
    (first,) = re.findall(r'button--primary [^>]*name="decision" value="(\w+)"', page)
    assert first == "keep_both"


def test_keep_both_relates_and_dates_them(alice: User, known: Memory, heard: Memory) -> None:
    decide(alice, heard, "keep_both", since="2026-03-01")
    heard.refresh_from_db()
    assert heard.valid_from is not None
    assert timezone.localtime(heard.valid_from).date().isoformat() == "2026-03-01"
    assert Relation.objects.get().other == known


def test_keep_both_without_a_date_leaves_both_in_use(
    alice: User, known: Memory, heard: Memory
) -> None:
    page = text_of(signed_in(alice).get(address("memory_review")))
    assert 'name="since">' in page  # no date is filled in
    assert "Both are used." in decide(alice, heard, "keep_both", since="")
    for memory in (known, heard):
        memory.refresh_from_db()
        assert (memory.status, memory.valid_until) == (MemoryStatus.ACTIVE, None)


def test_a_memory_that_ends_today_counts_through_today_and_its_history_says_so(
    alice: User, known: Memory, heard: Memory
) -> None:
    today = timezone.localdate()
    assert "until the day that you chose" in decide(
        alice, heard, "keep_both", since=today.isoformat()
    )
    known.refresh_from_db()
    assert known.valid_until is not None and known.valid_until > timezone.now()
    assert timezone.localtime(known.valid_until).date() == today
    page = text_of(signed_in(alice).get(address("memory_page", known.public_id)))
    assert "Used until the end of" in page


def test_what_was_superseded_can_be_used_again(alice: User, known: Memory, heard: Memory) -> None:
    decide(alice, heard, "keep_new")
    known.refresh_from_db()
    url = address("memory_page", known.public_id)
    page = text_of(signed_in(alice).get(url))
    enable = address("memory_enable", known.public_id)
    assert enable in page and "Outdated, so no longer used" in page
    assert address("memory_page", heard.public_id) in page.split("Outdated, so")[1]
    signed_in(alice).post(enable)
    for memory in (known, heard):
        memory.refresh_from_db()
        assert (memory.status, memory.superseded_by) == (MemoryStatus.ACTIVE, None)


def test_a_date_that_makes_no_sense_is_left_out(alice: User, heard: Memory) -> None:
    decide(alice, heard, "keep_both", since="2026-99-99")
    heard.refresh_from_db()
    assert (heard.status, heard.valid_from) == (MemoryStatus.ACTIVE, None)


def test_a_lone_candidate_is_accepted_or_rejected(alice: User) -> None:
    first, second = make_candidate(alice, "Wants a boat"), make_candidate(alice, "Wants a cat")
    assert "Remembered." in decide(alice, first, "accept")
    assert "Not remembered" in decide(alice, second, "reject")
    assert [one.content for one in Memory.objects.filter(user=alice)] == ["Wants a boat"]


def test_a_decision_that_makes_no_sense_changes_nothing(alice: User, heard: Memory) -> None:
    assert "toast--error" in decide(alice, heard, "explode")
    heard.refresh_from_db()
    assert heard.status == MemoryStatus.CANDIDATE


@pytest.mark.parametrize(
    ("first", "now"),
    [("keep_new", "It is used."), ("keep_both", "It is used."), ("keep_old", "in the recycle bin")],
)
def test_a_second_decision_on_the_same_says_what_became_of_it(
    alice: User, heard: Memory, first: str, now: str
) -> None:
    decide(alice, heard, first)
    page = decide(alice, heard, "keep_new")
    assert "This was decided meanwhile" in page and now in page
    is_binned = first == "keep_old"
    assert (address("memory_restore", heard.public_id) in page) is is_binned


def test_a_decision_on_what_was_forgotten_says_so(alice: User, heard: Memory) -> None:
    Memory.everything.filter(pk=heard.pk).update(hidden_at=timezone.now())
    url = address("memory_decide", heard.public_id)
    response = signed_in(alice).post(url, {"decision": "keep_new"})
    assert response.status_code == 404
    page = text_of(response)
    assert "It was forgotten or deleted, perhaps in another tab" in page
    assert f'href="{address("memory_list")}"' in page


def test_while_memory_is_off_nothing_can_be_accepted(alice: User, heard: Memory) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    assert "turned off" in decide(alice, heard, "keep_new")
    heard.refresh_from_db()
    assert heard.status == MemoryStatus.CANDIDATE


def test_another_one_can_be_taken_first(alice: User, heard: Memory) -> None:
    other = make_candidate(alice, "Wants a boat")
    url = address("memory_review", candidate=other.public_id)
    page = text_of(signed_in(alice).get(url))
    assert "I think I heard" in page
    assert "Also waiting" in page
    assert f"?candidate={heard.public_id}" in page


def test_a_known_memory_that_went_leaves_a_lone_candidate(
    alice: User, known: Memory, heard: Memory
) -> None:
    Memory.objects.filter(pk=known.pk).update(deleted_at=timezone.now(), purge_at=timezone.now())
    page = text_of(signed_in(alice).get(address("memory_review")))
    assert "I think I heard" in page
    assert "Hamburg" not in page


def test_the_inbox_says_why_it_asks(alice: User, known: Memory, heard: Memory) -> None:
    Arbitration.objects.create(
        user=alice, memory=heard, target=known, verdict="REVIEW", candidate_text="",
        decided_by="bundled", reasons=["contradicts"],
    )  # fmt: skip
    page = text_of(signed_in(alice).get(address("memory_review")))
    assert "Why I’m asking" in page
    assert "It may contradict what I knew" in page


def test_the_inbox_tells_no_verdict_on_a_memory_that_it_does_not_show(
    alice: User, heard: Memory, known: Memory
) -> None:
    alone = make_candidate(alice, "Is never at home")
    for memory, verdict, reason in (
        (alone, "REVIEW", "contradicts"),
        (heard, "ADD", "nothing_like_it"),
    ):
        Arbitration.objects.create(
            user=alice, memory=memory, verdict=verdict, candidate_text="", decided_by="bundled",
            reasons=[reason],
        )  # fmt: skip
    url = address("memory_review")
    assert (
        "contradicts what I knew"
        not in text_of(signed_in(alice).get(f"{url}?candidate={alone.public_id}")).split(
            "Also waiting"
        )[0]
    )
    page = text_of(signed_in(alice).get(f"{url}?candidate={heard.public_id}"))
    assert "I didn’t know anything like it" not in page
    assert "It may contradict what I knew" in page


def test_the_inbox_says_that_a_constraint_is_already_heeded(alice: User) -> None:
    candidate = make_candidate(alice, "Allergic to peanuts")
    assert "heed" not in text_of(signed_in(alice).get(address("memory_review")))
    Memory.objects.filter(pk=candidate.pk).update(kind=Kind.CONSTRAINT)
    page = text_of(signed_in(alice).get(address("memory_review")))
    assert "It may be a matter of safety, so I’m already following it." in page
    assert "To be safe, I’ll follow it until you decide." in page


def test_the_inbox_says_when_it_is_only_unsure(alice: User) -> None:
    candidate = make_candidate(alice, "Lives in Bremen")
    Memory.objects.filter(pk=candidate.pk).update(confidence=0.2)
    page = text_of(signed_in(alice).get(address("memory_review")))
    assert "I’m not sure I understood correctly." in page


def test_a_constraint_that_is_minded_before_the_decision_says_so(alice: User) -> None:
    memory = make_candidate(alice, "Allergic to nuts")
    page = text_of(signed_in(alice).get(address("memory_review")))
    assert "I’ll follow it until you decide" not in page
    Memory.objects.filter(pk=memory.pk).update(kind="constraint")
    page = text_of(signed_in(alice).get(address("memory_review")))
    assert "I’ll follow it until you decide" in page


def test_additions_are_in_words(alice: User) -> None:
    known = make_memory(alice, "she [Mira] lives in Hamburg")
    make_candidate(alice, "she [Mira] lives in Bremen", against=known)
    page = text_of(signed_in(alice).get(address("memory_review")))
    assert "[Mira" not in page


@pytest.fixture
def browser(alice: User) -> Client:
    return signed_in(alice)


def undo_of(page: str) -> str:
    found = re.search(r"/memory/review/undo/[^/]+/", page)
    assert found is not None
    return found[0]


@pytest.mark.parametrize("decision", ["keep_new", "keep_old", "keep_both", "keep_neither"])
def test_a_decision_is_undone(browser: Client, known: Memory, heard: Memory, decision: str) -> None:
    given = {"decision": decision, "since": "2026-03-01"}
    url = address("memory_decide", heard.public_id)
    page = text_of(browser.post(url, given, follow=True))
    assert "Please decide again" in text_of(browser.post(undo_of(page), follow=True))
    for memory in (known, heard):
        memory.refresh_from_db()
    assert (known.status, known.superseded_by, known.valid_until) == ("active", None, None)
    assert known.deleted_at is None
    assert (heard.status, heard.conflicts_with, heard.deleted_at) == ("candidate", known, None)
    assert heard.valid_from is None
    assert not Relation.objects.exists()


@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_a_lone_decision_is_undone(alice: User, browser: Client, decision: str) -> None:
    candidate = make_candidate(alice, "Wants a boat")
    url = address("memory_decide", candidate.public_id)
    page = text_of(browser.post(url, {"decision": decision}, follow=True))
    browser.post(undo_of(page))
    candidate.refresh_from_db()
    assert (candidate.status, candidate.deleted_at) == ("candidate", None)


def test_what_was_rejected_is_in_the_bin_for_a_day(alice: User, browser: Client) -> None:
    candidate = make_candidate(alice, "Wants a boat")
    assert "in the recycle bin for a day" in decide(alice, candidate, "reject")
    candidate.refresh_from_db()
    assert candidate.purge_at is not None and candidate.deleted_at is not None
    assert candidate.purge_at - candidate.deleted_at == timedelta(days=1)
    assert "Wants a boat" in text_of(browser.get(address("memory_bin")))


def test_a_removal_from_a_file_is_undone(alice: User, browser: Client) -> None:
    memory = make_memory(alice, "Wants a boat", removal_asked_at=timezone.now())
    url = address("memory_decide", memory.public_id)
    page = text_of(browser.post(url, {"decision": "accept"}, follow=True))
    browser.post(undo_of(page))
    memory.refresh_from_db()
    assert memory.deleted_at is None and memory.removal_asked_at is not None


def test_the_inbox_says_with_what_a_memory_may_have_ended(alice: User, browser: Client) -> None:
    ended = make_memory(alice, "Stopped training for the swimathon")
    now = timezone.now()
    make_memory(alice, "Swims 64 lengths a week", removal_asked_at=now, conflicts_with=ended)
    page = text_of(browser.get(address("memory_review")))
    assert "You told me: “Stopped training for the swimathon”" in page
    assert "memory file" not in page and "Delete it" in page


def test_an_undo_that_comes_too_late_says_so(alice: User, browser: Client) -> None:
    candidate = make_candidate(alice, "Wants a boat")
    url = address("memory_decide", candidate.public_id)
    page = text_of(browser.post(url, {"decision": "reject"}, follow=True))
    Memory.objects.all().delete()
    Memory.visible.all().delete()
    assert "can no longer be undone" in text_of(browser.post(undo_of(page), follow=True))
    late = address("memory_undecide", "unknown")
    assert "can no longer be undone" in text_of(browser.post(late, follow=True))


def test_nothing_is_compared_with_a_memory_that_is_not_shown(alice: User) -> None:
    alone = make_candidate(alice, "Is never at home")
    alone.versions.update(reason="self.planned, hedged")
    Arbitration.objects.create(
        user=alice, memory=alone, verdict="ADD", candidate_text="", decided_by="bundled",
        reasons=["both_hold"],
    )  # fmt: skip
    page = text_of(signed_in(alice).get(address("memory_review")))
    assert "You weren’t sure when you said it." in page
    assert "Both can be true" not in page and "One of your plans" not in page


def test_the_wording_is_changed_and_remembered_at_once(alice: User, browser: Client) -> None:
    candidate = make_candidate(alice, "Wants a boat")
    edit = address("memory_edit", candidate.public_id)
    page = text_of(browser.get(edit))
    assert "Save and remember it" in page and "Back to the review" in page
    given = {"content": "Wants a canoe", "kind": candidate.kind}
    browser.post(edit, given)
    candidate.refresh_from_db()
    assert (candidate.content, candidate.status) == ("Wants a canoe", MemoryStatus.CANDIDATE)
    assert browser.post(edit, given | {"accept": "1"})["Location"] == address("memory_review")
    candidate.refresh_from_db()
    assert candidate.status == MemoryStatus.ACTIVE


@pytest.mark.parametrize(
    "heeded", [{"kind": Kind.CONSTRAINT}, {"pinned": True}, {"standing": True}]
)
@pytest.mark.parametrize("decision", ["keep_new", "keep_neither"])
def test_what_is_always_followed_is_switched_off_only_with_a_word(
    alice: User, browser: Client, heeded: dict[str, Any], decision: str
) -> None:
    allergy = make_memory(alice, "Xiaomin is allergic to peanuts", **heeded)
    heard = make_candidate(alice, "Xiaomin is called Min", against=allergy)
    page = text_of(browser.get(address("memory_review")))
    offered = re.findall(r'<button class="([^"]*)" name="decision" value="(\w+)"', page)
    assert [name for look, name in offered if "button--primary" in look] == ["keep_both"]
    warned = "Then I’ll stop following this: “Xiaomin is allergic to peanuts”"
    assert page.count(warned) == 2
    url = address("memory_decide", heard.public_id)
    page = text_of(browser.post(url, {"decision": decision}, follow=True))
    assert "I no longer follow this: “Xiaomin is allergic to peanuts”" in page
    browser.post(undo_of(page))
    allergy.refresh_from_db()
    assert (allergy.status, allergy.deleted_at) == ("active", None)


def test_other_memories_are_replaced_as_before(browser: Client, heard: Memory) -> None:
    page = text_of(browser.get(address("memory_review")))
    assert "stop following" not in page
    assert re.search(r'button--primary[^"]*" name="decision" value="keep_new"', page)


def test_the_inbox_quotes_the_message_that_changed_it_last(alice: User, browser: Client) -> None:
    talk = make_conversation(alice)
    first = make_turn(talk, "monday is when the school orders 60 rolls")
    later = make_turn(talk, "ah no the school order is 80 rolls")
    status = MemoryStatus.CANDIDATE
    waiting = make_memory(alice, "The school orders 60 rolls", turns=[first], status=status)
    before = waiting.versions.get()
    make_version(
        waiting, "The school orders 80 rolls", change=Change.MERGED, turns=[later], inputs=[before]
    )
    page = text_of(browser.get(address("memory_review")))
    assert "ah no the school order is 80 rolls" in page and "orders 60 rolls" not in page
