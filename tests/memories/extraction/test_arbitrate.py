"""What follows from how two statements stand to each other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memories.extraction.arbitration import conflicts
from memories.extraction.arbitration.pairs import LONGEST_MERGE, Thresholds, merge
from memories.extraction.arbitration.verdicts import BundledArbiter
from memories.extraction.types import Candidate, Decision, KnownMemory, Verdict
from tests.memories.extraction.bundled_reading import extract
from tests.pair_reader import FakePairs, shares

NOW = datetime(2026, 11, 3, tzinfo=UTC)
LEEDS, YORK = "Lives in Leeds", "Lives in York"


def candidate(content: str, **fields: Any) -> Candidate:
    values: dict[str, Any] = {
        "kind": "fact",
        "importance": 0.5,
        "confidence": 0.8,
        "quote": content,
    } | fields
    return Candidate(content=content, **values)


def known(content: str, **fields: Any) -> KnownMemory:
    values: dict[str, Any] = {"id": f"mem_{content}", "kind": "fact", "similarity": 0.5} | fields
    return KnownMemory(content=content, **values)


def decide(
    new: Candidate | str, *old: KnownMemory | str, reads: str = "unrelated", share: float = 0.95
) -> Decision:
    """The decision where the head reads each pair as `reads`."""
    one = new if isinstance(new, Candidate) else candidate(new)
    near = [text if isinstance(text, KnownMemory) else known(text) for text in old]
    head = FakePairs()
    for memory in near:
        head.says(memory.content, one.content, reads, share)
    return BundledArbiter(head).arbitrate(one, near, now=NOW)


@pytest.mark.parametrize(
    ("reads", "verdict", "reason"),
    [
        ("same", Verdict.SKIP, "same_meaning"),
        ("newer", Verdict.REPLACE, "newer_value"),
        ("ended", Verdict.REPLACE, "no_longer"),
        ("contradicts", Verdict.REVIEW, "contradicts"),
    ],
)
def test_each_relation_has_its_verdict(reads: str, verdict: Verdict, reason: str) -> None:
    decision = decide(YORK, LEEDS, reads=reads)
    assert (decision.verdict, decision.target_id) == (verdict, f"mem_{LEEDS}")
    assert decision.reasons == (reason,)


def test_nothing_known_or_nothing_like_it_adds() -> None:
    assert decide(YORK).verdict is Verdict.ADD
    decision = decide(YORK, "Plays the cello")
    assert (decision.verdict, decision.reasons) == (Verdict.ADD, ("nothing_like_it",))


def test_what_is_unrelated_but_similar_stands_beside() -> None:
    assert decide(YORK, known(LEEDS, similarity=0.56)).verdict is Verdict.KEEP_BOTH


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("Likes tea", "Likes green tea", Verdict.REPLACE),
        ("Likes green tea", "Likes tea", Verdict.SKIP),
        ("Likes green tea", "Drinks tea with honey", Verdict.MERGE),
    ],
)
def test_of_a_refinement_the_fuller_text_stays(old: str, new: str, verdict: Verdict) -> None:
    assert decide(new, old, reads="refines").verdict is verdict


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("Likes tea.", "Likes green tea", "Likes green tea"),
        ("Likes green tea", "Likes tea", "Likes green tea"),
        ("Has a dog.", "Rex is a beagle", "Has a dog; Rex is a beagle"),
        ("养了一只狗。", "名字叫豆豆", "养了一只狗；名字叫豆豆"),
        ("Has a dog; Rex is a beagle", "rex is a beagle", "Has a dog; Rex is a beagle"),
    ],
)
def test_a_merge_says_what_both_say(old: str, new: str, text: str) -> None:
    assert merge(old, new) == text


@pytest.mark.parametrize(
    ("old", "new"), [("driving lessons", "i plan the cranes"), ("有两箱蜜蜂", "下班去学车")]
)
def test_texts_on_different_matters_are_never_merged(old: str, new: str) -> None:
    decision = decide(new, known(old, similarity=0.01), reads="refines")
    assert decision.verdict in (Verdict.ADD, Verdict.KEEP_BOTH)


def test_a_merge_that_would_be_too_long_keeps_both() -> None:
    old = "Has a dog that " + "runs " * (LONGEST_MERGE // 10)
    new = "Rex is a beagle who " + "sleeps " * (LONGEST_MERGE // 10)
    decision = decide(new, old, reads="refines")
    assert (decision.verdict, decision.content) == (Verdict.KEEP_BOTH, None)


def test_a_merge_with_a_constraint_stays_a_constraint() -> None:
    old = known("Allergic to nuts", kind="constraint")
    decision = decide("Pollen allergy since May", old, reads="refines")
    assert (decision.verdict, decision.kind) == (Verdict.MERGE, "constraint")


@pytest.mark.parametrize(
    ("old", "new"),
    [("Likes coffee", "likes  coffee."), ("喜欢喝咖啡", "喜歡喝咖啡。"), ("A\nB\n", "A\nB")],
)
def test_an_equal_text_is_skipped_without_reading(old: str, new: str) -> None:
    head = FakePairs()
    decision = BundledArbiter(head).arbitrate(candidate(new), [known(LEEDS), known(old)], now=NOW)
    assert (decision.verdict, decision.target_id) == (Verdict.SKIP, f"mem_{old}")
    assert decision.reasons == ("same_text",) and head.asked == []


@pytest.mark.parametrize("reads", ["same", "refines"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Runs 5 km", "Runs 10 km"),
        ("生日是5月3日", "生日是５月４日"),
        ("I drive", "I don't drive"),
        ("我吃辣", "我不吃辣"),
        ("Mag Tee", "Mag keinen Tee"),
        ("お茶が好き", "お茶が好きじゃない"),
    ],
)
def test_a_number_or_negation_that_alone_differs_is_asked_about(
    old: str, new: str, reads: str
) -> None:
    assert decide(new, old, reads=reads, share=0.995).verdict is Verdict.REVIEW


@pytest.mark.parametrize("reads", ["same", "refines"])
@pytest.mark.parametrize(
    ("old", "new", "are_two"),
    [
        ("dentist on Friday [2026-11-06]", "dentist on Friday [2026-12-04]", True),
        ("周五[2026-11-06]看牙", "周五[2026-12-04]看牙", True),
        ("in Rome next week [2026-12-07 – 2026-12-13]", "in Rome [2026-12]", False),
        ("dentist on Friday [2026-12-04]", "dentist on the 4th [2026-12-04]", False),
        ("dentist on Friday", "dentist on Friday [2026-12-04]", False),
    ],
)
def test_events_on_different_days_are_two_events(
    old: str, new: str, are_two: bool, reads: str
) -> None:
    decision = decide(candidate(new, kind="event"), known(old, kind="event"), reads=reads)
    assert (decision.verdict in (Verdict.ADD, Verdict.KEEP_BOTH)) is are_two


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("vegetarian since uni", "I haven't eaten meat since my university days"),
        ("swam 2 km [2026-11-02]", "swam 2 km [2026-10-30]"),
        ("Earns 1,000", "Earns 1000 a month"),
    ],
)
def test_other_words_for_the_same_are_the_same(old: str, new: str) -> None:
    assert decide(new, old, reads="same").verdict is Verdict.SKIP


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("喜欢吃川菜", "每周吃一次川菜", Verdict.ADD),
        ("eats curry twice a week", "loves curry", Verdict.ADD),
        ("喜欢吃川菜", "每周不吃一次川菜", Verdict.REVIEW),
        ("loves curry", "loves stew", Verdict.REVIEW),
        ("runs twice a week", "runs every day", Verdict.REVIEW),
    ],
)
def test_what_is_liked_doesnt_contradict_how_often_it_is_done(
    old: str, new: str, verdict: Verdict
) -> None:
    assert decide(new, old, reads="contradicts", share=0.97).verdict is verdict


def test_what_differs_in_nothing_but_words_is_the_same_earlier() -> None:
    assert decide("特别喜欢茶", "很喜欢茶", reads="same", share=0.55).verdict is Verdict.SKIP
    assert decide("Earns 1,000", "Earns 1000 a month", reads="same").verdict is Verdict.SKIP


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({"newer": 0.55, "unrelated": 0.45}, Verdict.REVIEW),
        ({"newer": 0.3, "ended": 0.3, "unrelated": 0.4}, Verdict.REVIEW),
        ({"same": 0.4, "refines": 0.3, "newer": 0.3}, Verdict.MERGE),
        ({"same": 0.3, "newer": 0.3, "unrelated": 0.4}, Verdict.ADD),
        ({"newer": 0.6, "unrelated": 0.4}, Verdict.REPLACE),
    ],
)
def test_where_no_relation_is_sure_the_harmless_verdict_is_taken(
    given: dict[str, float], verdict: Verdict
) -> None:
    head = FakePairs()
    head.told[LEEDS, YORK] = given
    decision = BundledArbiter(head).arbitrate(candidate(YORK), [known(LEEDS)], now=NOW)
    assert decision.verdict is verdict


def test_thresholds_are_given() -> None:
    head = FakePairs()
    head.told[LEEDS, YORK] = shares("newer", 0.8)
    strict = BundledArbiter(head, thresholds=Thresholds(newer=0.9))
    assert strict.arbitrate(candidate(YORK), [known(LEEDS)], now=NOW).verdict is Verdict.REVIEW


@pytest.mark.parametrize("flag", ["corrects", "explicit"])
def test_what_the_person_decided_replaces_what_it_contradicts(flag: str) -> None:
    new = candidate(YORK, confidence=0.3, **{flag: True})
    assert decide(new, LEEDS, reads="contradicts").verdict is Verdict.REPLACE


@pytest.mark.parametrize(
    ("old", "new", "reads"),
    [
        ("Ships in May", "Ships in June", "unrelated"),
        ("需要 3 台服务器", "需要 5 台服务器", "same"),
        ("Deployed with Docker Compose", "Deployed with Kubernetes", "contradicts"),
    ],
)
def test_of_a_project_the_latest_holds(old: str, new: str, reads: str) -> None:
    page = candidate(new, kind="plan")
    assert decide(page, known(old, kind="plan"), reads=reads).verdict is Verdict.REPLACE
    assert decide(candidate(new), known(old), reads=reads).verdict is not Verdict.REPLACE


@pytest.mark.parametrize("reads", ["same", "unrelated", "newer", "contradicts"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Milestone 1 is done", "Milestone 2 is done"),
        ("Issue #41 is fixed", "Issue #42 is fixed"),
        ("REQ-12: the form is accessible", "REQ-13: the form is accessible"),
        ("第1阶段已完成", "第2阶段已完成"),
        ("里程碑 1 已完成", "里程碑 2 已完成"),
    ],
)
def test_pages_about_two_of_a_series_both_stand(old: str, new: str, reads: str) -> None:
    page = candidate(new, kind="plan")
    near = known(old, kind="plan", similarity=0.9)
    assert decide(page, near, reads=reads).verdict is Verdict.KEEP_BOTH


@pytest.mark.parametrize(
    ("old", "new"),
    [("Frontend uses React", "Backend uses Django"), ("前端用 React", "后端用 Django")],
)
def test_a_page_about_another_subject_replaces_nothing_unasked(old: str, new: str) -> None:
    page = candidate(new, kind="development")
    decision = decide(page, known(old, kind="development"), reads="contradicts")
    assert decision.verdict is Verdict.REVIEW


RELATIONS = ["same", "refines", "newer", "ended", "contradicts", "unrelated"]
PASSWORD, PASSKEY = "Login: people sign in with a password", "Login: people sign in with a passkey"


@pytest.mark.parametrize("reads", RELATIONS)
def test_a_page_with_the_same_label_is_a_newer_edition_whatever_the_head_reads(reads: str) -> None:
    page, old = candidate(PASSKEY, kind="requirement"), known(PASSWORD, kind="plan")
    decision = decide(page, old, reads=reads)
    assert (decision.verdict, decision.reasons) == (Verdict.REPLACE, ("newer_edition",))


@pytest.mark.parametrize("reads", RELATIONS)
@pytest.mark.parametrize("kind", ["requirement", "preference"])
def test_a_page_with_another_label_is_another_matter(reads: str, kind: str) -> None:
    head = FakePairs()
    old = known("Sign-up: people sign up with a password", kind=kind)
    head.says(old.content, PASSKEY, reads, 0.95)
    decision = BundledArbiter(head).arbitrate(candidate(PASSKEY, kind=kind), [old], now=NOW)
    if kind == "requirement":
        assert decision.verdict is Verdict.ADD and head.asked == []
    else:
        assert head.asked


@pytest.mark.parametrize("reads", ["same", "refines"])
def test_another_value_on_a_page_is_neither_known_nor_joined(reads: str) -> None:
    old, new = "The next person we hire is a designer", "The next person we hire is a tester"
    page = candidate(new, kind="plan")
    decision = decide(page, known(old, kind="plan"), reads=reads)
    assert (decision.verdict, decision.reasons) == (Verdict.REPLACE, ("newer_edition",))
    assert decide(new, old, reads=reads).verdict is not Verdict.REPLACE


def test_a_page_that_says_less_or_the_same_is_skipped() -> None:
    text = "People sign in with a passkey"
    for old in (f"{text}.", f"{text} or a link"):
        page = candidate(text, kind="plan")
        assert decide(page, known(old, kind="plan"), reads="same").verdict is Verdict.SKIP


def test_what_an_edition_under_the_same_label_leaves_out_is_gone_on_purpose() -> None:
    page, old = candidate(PASSKEY, kind="plan"), known(f"{PASSKEY} or a link", kind="plan")
    assert decide(page, old, reads="same").verdict is Verdict.REPLACE


def test_a_page_whose_older_edition_is_known_changes_no_other_page() -> None:
    head = FakePairs()
    other = known("Passkeys are for administrators alone", kind="plan")
    head.says(other.content, PASSKEY, "newer")
    old = known(PASSWORD, kind="plan")
    page = candidate(PASSKEY, kind="plan")
    decision = BundledArbiter(head).arbitrate(page, [other, old], now=NOW)
    assert (decision.target_id, decision.others) == (old.id, ())
    assert BundledArbiter(head).arbitrate(page, [other], now=NOW).target_id == other.id


def test_a_page_replaces_several_only_if_these_are_worded_alike() -> None:
    head = FakePairs()
    new = "Firmware 3 is out; the long test no longer holds it up"
    first, second, other = (
        known(text, kind="plan")
        for text in (
            "We release firmware 3 after the long test",
            "We release firmware 3 before the long test",
            "The controller ran for three days in hall 4",
        )
    )
    near = [first, second, other]
    for one in near:
        head.says(one.content, new, "newer")
    decision = BundledArbiter(head).arbitrate(candidate(new, kind="plan"), near, now=NOW)
    assert decision.target_id == first.id
    assert [one.id for one in decision.others] == [second.id]


@pytest.mark.parametrize(
    ("ended", "with_it", "asked"),
    [
        ("Trains for the swimathon in March", "Swims 64 lengths a week for the swimathon", True),
        ("Trains for the swimathon in March", "Theo swims 64 lengths for the swimathon", False),
        ("Trains for the swimathon in March", "Swims in the lido", False),
    ],
)
def test_what_may_have_ended_with_another_memory_is_asked_about(
    ended: str, with_it: str, asked: bool
) -> None:
    decision = decide("I gave up the swimathon training", ended, with_it, reads="ended")
    assert (decision.verdict, decision.target_id) == (Verdict.REPLACE, f"mem_{ended}")
    others = [(one.id, one.verdict, one.reason) for one in decision.others]
    assert others == [(f"mem_{with_it}", Verdict.REVIEW, "no_longer")] * asked


@pytest.mark.parametrize(
    ("new", "old", "share", "verdict"),
    [
        ("the choir disbanded", "Sings in a choir", 0.7, Verdict.REPLACE),
        ("our band broke up", "Plays bass in a band", 0.45, Verdict.REPLACE),
        ("the band broke up", "Plays bass in a band", 0.45, Verdict.REVIEW),
        ("our band broke up", "Plays bass in a band", 0.1, Verdict.ADD),
        ("our band broke up", "Theo plays in a band", 0.45, Verdict.ADD),
        ("our film club folded", "Goes to a book club", 0.7, Verdict.REVIEW),
        ("野球队散了", "我周末在野球队打球", 0.7, Verdict.REPLACE),
        ("足球队散了", "我周末在野球队打球", 0.7, Verdict.REVIEW),
    ],
)
def test_a_group_that_no_longer_exists_ends_what_the_person_does_in_it(
    new: str, old: str, share: float, verdict: Verdict
) -> None:
    head = FakePairs()
    head.told[old, new] = {**shares("ended", share), "unrelated": 1 - share}
    ended = candidate(new, corrects=True, reasons=("self.past", "ends"))
    assert BundledArbiter(head).arbitrate(ended, [known(old)], now=NOW).verdict is verdict


@pytest.mark.parametrize("reads", ["same", "unrelated", "contradicts"])
def test_what_a_correction_names_is_replaced_whatever_the_head_reads(reads: str) -> None:
    decision = decide(candidate(YORK, corrects=True, overrules=LEEDS), LEEDS, reads=reads)
    assert (decision.verdict, decision.reasons) == (Verdict.REPLACE, ("corrected",))


@pytest.mark.parametrize("reads", ["newer", "ended"])
def test_a_change_that_is_unsure_or_was_said_earlier_is_asked_about(reads: str) -> None:
    unsure = candidate(YORK, confidence=0.4)
    assert decide(unsure, LEEDS, reads=reads).reasons == ("contradicts",)
    earlier = candidate(YORK, occurred_at=NOW - timedelta(days=9))
    decision = decide(earlier, known(LEEDS, said_at=NOW), reads=reads)
    assert (decision.verdict, decision.reasons) == (Verdict.REVIEW, ("said_earlier",))


@pytest.mark.parametrize("reads", ["newer", "ended", "contradicts"])
@pytest.mark.parametrize("plan", [{"kind": "task"}, {"reasons": ("self.planned",)}])
def test_a_plan_does_not_replace_what_holds_until_then(reads: str, plan: dict[str, Any]) -> None:
    new = candidate("Moves to York in May", **plan)
    assert decide(new, LEEDS, reads=reads).verdict is Verdict.KEEP_BOTH


def test_a_moved_appointment_replaces_the_old_day() -> None:
    new = candidate("dentist got moved to the 20th", reasons=("self.planned",), corrects=True)
    old = known("dentist on the 18th", kind="event")
    assert decide(new, old, reads="newer").verdict is Verdict.REPLACE
    unmoved = candidate("dentist on the 20th", reasons=("self.planned",))
    assert decide(unmoved, old, reads="newer").verdict is Verdict.KEEP_BOTH


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("is a vegan", "buys oat milk", Verdict.ADD),
        ("eats tofu most days", "is a vegetarian", Verdict.ADD),
        ("吃素", "常买豆腐", Verdict.ADD),
        ("is a vegan", "buys milk", Verdict.REVIEW),
        ("is a vegan", "eats tofu and bacon", Verdict.REVIEW),
        ("is a vegan", "no longer eats tofu", Verdict.REVIEW),
        ("吃素", "常吃豆腐炖肉", Verdict.REVIEW),
    ],
)
def test_food_that_fits_a_diet_does_not_contradict_it(old: str, new: str, verdict: Verdict) -> None:
    one = known(old, similarity=0.4)
    assert decide(new, one, reads="contradicts", share=0.97).verdict is verdict


def test_a_plan_replaces_a_plan() -> None:
    new = candidate("Moves to York in June", kind="task")
    old = known("Moves to York in May", kind="task")
    assert decide(new, old, reads="newer").verdict is Verdict.REPLACE


@pytest.mark.parametrize("status", ["disabled", "superseded", "archived"])
@pytest.mark.parametrize("reads", ["newer", "ended", "contradicts", "refines"])
def test_what_is_not_in_use_is_never_changed(status: str, reads: str) -> None:
    assert decide(YORK, known(LEEDS, status=status), reads=reads).verdict is Verdict.ADD


def test_only_a_repeat_counts_against_a_disabled_memory() -> None:
    assert decide(YORK, known(LEEDS, status="disabled"), reads="same").verdict is Verdict.SKIP
    assert decide(YORK, known(YORK, status="disabled")).verdict is Verdict.SKIP
    assert decide(YORK, known(YORK, status="archived")).verdict is Verdict.ADD


def test_the_strongest_finding_wins_and_the_others_stand_beside() -> None:
    head = FakePairs()
    head.says("Likes Leeds", YORK, "contradicts")
    head.says(LEEDS, YORK, "newer")
    near = [known("Likes Leeds"), known("Plays chess"), known(LEEDS)]
    decision = BundledArbiter(head).arbitrate(candidate(YORK), near, now=NOW)
    assert (decision.verdict, decision.target_id) == (Verdict.REPLACE, f"mem_{LEEDS}")
    assert [(one.id, one.verdict) for one in decision.others] == [
        ("mem_Likes Leeds", Verdict.REVIEW)
    ]


def test_only_the_most_similar_are_read() -> None:
    head = FakePairs(share=0.99)
    near = [known(f"Likes song {number}") for number in range(40)]
    BundledArbiter(head).arbitrate(candidate(YORK), near, now=NOW)
    assert head.asked == [(one.content, YORK) for one in near[:12]]


def test_documents_are_compared_as_editions_and_not_read() -> None:
    long = "Wrote down how the garden is watered. " * 100
    for old, new, verdict in (
        (long, f"{long} Now by hand.", Verdict.REPLACE),
        (f"{long} Now by hand.", long, Verdict.SKIP),
        (long, "# Recipes\nSalt the water.", Verdict.ADD),
    ):
        assert decide(new, old, reads="contradicts").verdict is verdict


@pytest.mark.parametrize("odd", ["", " ", "。", "?!", "12345", "🐱", "not", "不", "的", "; ;"])
def test_odd_texts_are_decided_without_an_error(odd: str) -> None:
    for reads in ("same", "refines", "newer", "unrelated"):
        assert decide(odd, LEEDS, reads=reads).verdict in Verdict
        assert decide(LEEDS, odd, reads=reads).verdict in Verdict


FLAT, MOVES = "Looks for a flat in Lisbon", "Moves to Lisbon in spring"


def supported(
    *, forth: str = "unrelated", share: float = 0.6, back: str = "unrelated", **fields: Any
) -> tuple[str, ...]:
    """What supports the flat, where the head reads the move and the flat so in each direction."""
    head = FakePairs()
    head.says(MOVES, FLAT, forth, share)
    head.says(FLAT, MOVES, back)
    decision = BundledArbiter(head).arbitrate(candidate(FLAT), [known(MOVES, **fields)], now=NOW)
    return decision.supports


def test_what_holds_beside_it_and_may_have_to_do_with_it_supports_it() -> None:
    assert supported() == (f"mem_{MOVES}",)
    assert supported(similarity=0.6) == (f"mem_{MOVES}",)


def test_what_is_surely_unrelated_or_hardly_alike_supports_nothing() -> None:
    assert supported(share=0.95) == ()
    assert supported(similarity=0.3) == ()


@pytest.mark.parametrize("reads", ["same", "refines", "newer", "ended", "contradicts"])
def test_neither_a_repeat_nor_a_contradiction_supports(reads: str) -> None:
    assert supported(forth=reads) == ()


@pytest.mark.parametrize("reads", ["newer", "ended", "contradicts"])
def test_a_contradiction_from_the_other_side_is_no_support(reads: str) -> None:
    assert supported(back=reads) == ()


@pytest.mark.parametrize("status", ["disabled", "candidate", "superseded", "archived"])
def test_only_what_is_in_use_supports(status: str) -> None:
    assert supported(status=status) == ()


def test_the_three_most_similar_support_and_no_more_are_read_again() -> None:
    head = FakePairs(share=0.6)
    near = [known(f"Likes song {number}", similarity=0.4 + number / 100) for number in range(5)]
    decision = BundledArbiter(head).arbitrate(candidate(FLAT), near, now=NOW)
    assert decision.supports == tuple(one.id for one in near[:1:-1])
    assert len(head.asked) == 5 + 3


@pytest.mark.parametrize("reads", ["ended", "newer", "contradicts"])
def test_a_constraint_is_ended_by_nothing_about_another_matter(reads: str) -> None:
    allergy = known("Allergic to penicillin", kind="constraint", similarity=0.3)
    assert (
        decide("Not vegetarian any more", allergy, reads=reads, share=0.99).verdict is Verdict.ADD
    )


def test_a_constraint_is_ended_by_what_is_about_the_same_matter() -> None:
    allergy = known("Allergic to penicillin", kind="constraint", similarity=0.3)
    decision = decide("Penicillin is fine after all", allergy, reads="ended")
    assert decision.verdict is Verdict.REPLACE
    milk = known("Lactose intolerant", kind="constraint", similarity=0.4)
    assert decide("Can drink milk again", milk, reads="ended").verdict is Verdict.REPLACE


# --- few pairs, for a caller who waits


def in_a_hurry(head: FakePairs, new: str, *near: KnownMemory) -> Decision:
    return BundledArbiter(head, most_pairs=3).arbitrate(candidate(new), near, now=NOW)


def test_in_a_hurry_the_nearest_and_those_with_rare_words_are_read() -> None:
    head = FakePairs()
    songs = [known(f"Likes song {number}", similarity=0.4) for number in range(8)]
    works = known("Works in York", similarity=0.3)
    in_a_hurry(head, YORK, known(LEEDS, similarity=0.5), *songs, works)
    assert len(head.asked) == 3
    assert {(LEEDS, YORK), (works.content, YORK)} <= {*head.asked}


def test_in_a_hurry_what_denies_the_candidate_is_read() -> None:
    head = FakePairs()
    near = [known(f"Eats {food}", similarity=0.4) for food in ("rice", "bread", "soup", "beans")]
    denial = known("Never takes meals", similarity=0.38)
    in_a_hurry(head, "Takes dinner at home", *near, denial)
    assert (denial.content, "Takes dinner at home") in head.asked


def test_in_a_hurry_only_the_nearest_is_read_of_what_has_nothing_in_common() -> None:
    head = FakePairs()
    near = [known(f"Likes {song}", similarity=0.2) for song in ("jazz", "rock", "soul")]
    in_a_hurry(head, YORK, *near)
    assert head.asked == [(near[0].content, YORK)]


def test_in_a_hurry_nothing_more_is_read_after_what_says_the_same() -> None:
    head = FakePairs()
    same, other = (
        known("His home is Leeds", similarity=0.9),
        known("Works in Leeds", similarity=0.5),
    )
    head.says(same.content, LEEDS, "same")
    assert in_a_hurry(head, LEEDS, same, other).target_id == same.id
    assert head.asked == [(same.content, LEEDS)]


@pytest.mark.parametrize("given", [{"corrects": True}, {"kind": "requirement"}])
def test_in_a_hurry_a_correction_and_a_project_page_are_held_against_all(
    given: dict[str, Any],
) -> None:
    head = FakePairs()
    same, other = (
        known("His home is Leeds", similarity=0.9),
        known("Works in Leeds", similarity=0.5),
    )
    head.says(same.content, LEEDS, "same")
    BundledArbiter(head, most_pairs=3).arbitrate(candidate(LEEDS, **given), [same, other], now=NOW)
    assert len(head.asked) == 2


def test_in_a_hurry_documents_are_compared_and_do_not_count() -> None:
    head = FakePairs()
    long = "Wrote down how the garden is watered. " * 100
    pages = [known(f"{long} Part {number}.", similarity=0.9) for number in range(5)]
    near = [known(f"Likes {song}", similarity=0.4) for song in ("jazz", "rock", "soul")]
    in_a_hurry(head, YORK, *pages, *near)
    assert head.asked == [(one.content, YORK) for one in near]


def test_in_a_hurry_a_support_is_read_from_the_other_side_if_pairs_are_left() -> None:
    head = FakePairs(share=0.6)
    near = [known(f"Likes {song}", similarity=0.4) for song in ("jazz", "rock", "soul")]
    assert in_a_hurry(head, FLAT, *near[:2]).supports == (near[0].id,)
    assert len(head.asked) == 3
    assert in_a_hurry(head, FLAT, *near).supports == ()
    assert len(head.asked) == 6


def test_a_limit_is_not_replaced_by_another_kind_of_statement_without_a_question() -> None:
    limit = known("我血压高医生让我少吃盐", kind="constraint", similarity=0.6)
    said = candidate("医生把我的血压药换成缬沙坦了", corrects=True)
    decision = decide(said, limit, reads="newer")
    assert decision.verdict is Verdict.REVIEW


def test_one_statement_replaces_several_only_where_they_say_the_same() -> None:
    inhaler = known("finn is on the brown inhaler", similarity=0.7)
    same = known("finn uses the brown inhaler", similarity=0.65)
    school = known("finn is in first year in colaiste", similarity=0.5)
    decision = decide(
        "finn isnt on the brown inhaler anymore", inhaler, same, school, reads="newer"
    )
    assert decision.target_id == inhaler.id
    assert [beside.id for beside in decision.others] == [same.id]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I use Figma, Linear and Notion", "I no longer use Notion"),
        ("我会钢琴、小提琴和吉他", "不弹吉他了"),
    ],
)
def test_an_end_of_a_part_leaves_the_rest(old: str, new: str) -> None:
    assert decide(new, old, reads="ended").verdict is not Verdict.REPLACE


@pytest.mark.parametrize(
    ("old", "new", "wrong", "text"),
    [
        (
            "mias got gymnastics on tuesdays 4:30",
            "gymnastics is wednesdays",
            "tuesdays",
            "mias got gymnastics on wednesdays 4:30",
        ),
        ("gymnastics is tuesdays", "gymnastics is wednesdays", "tuesdays", None),
    ],
)
def test_a_correction_exchanges_only_the_wrong_value(
    old: str, new: str, wrong: str, text: str | None
) -> None:
    decision = decide(candidate(new, corrects=True, old_value=wrong), old)
    assert (decision.content, decision.reasons) == (text, ("corrected",))
    assert decision.verdict is (Verdict.MERGE if text else Verdict.REPLACE)


def test_an_end_of_the_whole_replaces_it() -> None:
    assert decide("left the choir", "sings in the choir", reads="ended").verdict is Verdict.REPLACE


HENS, VAN = "we have 3 hens now", "we are doing up a van"


@pytest.mark.parametrize(
    ("new", "old", "reads", "share", "verdict"),
    [
        (HENS, "my sister lives in Bristol", "newer", 0.8, Verdict.ADD),
        (HENS, "the bike is in Bristol", "newer", 0.92, Verdict.REVIEW),
        ("the shift starts at six now", "I started to run", "newer", 0.95, Verdict.REVIEW),
        ("Dev quit [2026-11-26]", "round closed [2026-03]", "newer", 0.7, Verdict.KEEP_BOTH),
        ("sold the van", VAN, "ended", 0.7, Verdict.REVIEW),
        ("sold the van", VAN, "ended", 0.85, Verdict.REPLACE),
        ("left when Ana was born", "she [Ana] is ten", "ended", 0.85, Verdict.REVIEW),
        (
            "we waved the old van goodbye",
            "our van needs tyres for the trip",
            "ended",
            0.7,
            Verdict.REVIEW,
        ),
        ("tea on tuesdays now", "tea on monday", "newer", 0.9, Verdict.REPLACE),
    ],
)
def test_a_correction_replaces_only_what_names_the_same_thing(
    new: str, old: str, reads: str, share: float, verdict: Verdict
) -> None:
    memory = known(old, similarity=0.29)
    assert (
        decide(candidate(new, corrects=True), memory, reads=reads, share=share).verdict is verdict
    )


@pytest.mark.parametrize(
    ("new", "value", "old", "reads", "verdict"),
    [
        ("Toms mum eats no nuts", "Tom", "he [Tom] eats no nuts", "unrelated", Verdict.REPLACE),
        ("Toms mum eats no nuts", "Tom", "Tom loves crime novels", "unrelated", Verdict.ADD),
        ("Dot is the van", "my sister", "her [my sister] name is Dot", "same", Verdict.REPLACE),
        ("shift moved from tuesday to friday", "tuesday", "shift on tue", "newer", Verdict.REPLACE),
        ("shift moved from tuesday to friday", "tuesday", "run friday", "newer", Verdict.REVIEW),
        ("shift moved from tuesday to friday", "tuesday", "run", "newer", Verdict.KEEP_BOTH),
    ],
)
def test_a_correction_that_names_the_old_value_replaces_what_has_it(
    new: str, value: str, old: str, reads: str, verdict: Verdict
) -> None:
    one = candidate(new, corrects=True, old_value=value)
    assert decide(one, old, reads=reads).verdict is verdict


def test_a_denial_of_a_limit_is_reviewed() -> None:
    limit = known("Theo is coeliac", kind="constraint")
    denial = candidate("Theo is not coeliac after all", kind="constraint", corrects=True)
    assert decide(denial, limit, reads="newer").verdict is Verdict.REVIEW


@pytest.mark.parametrize(
    ("new", "old", "verdict"),
    [
        ("Theo is 7 now", "Zuri is 9 and Theo is 6", Verdict.REVIEW),
        ("Theo is 7 now", "Theo is 6", Verdict.REPLACE),
        ("she moved to Hull", "she lives in Leeds and works nights", Verdict.REPLACE),
    ],
)
def test_a_newer_figure_of_one_item_does_not_replace_the_list(
    new: str, old: str, verdict: Verdict
) -> None:
    assert decide(new, old, reads="newer").verdict is verdict


@pytest.mark.parametrize(
    ("old", "new", "reads", "share"),
    [
        ("[我]今年[2026]34咯", "[我]现在112 年底[2026-12]前", "newer", 0.96),
        ("咖啡店叫慢半拍", "我不喝咖啡", "contradicts", 0.96),
        ("I collect stamps", "we never travel", "contradicts", 0.8),
        ("我叫周晓岚", "以后叫我岚姐", "newer", 0.97),
        ("My name is Lan Zhou", "call me Lan", "same", 0.97),
        ("豆豆在学钢琴", "离豆豆学校近", "same", 0.97),
    ],
)
def test_statements_that_name_different_things_stand_side_by_side(
    old: str, new: str, reads: str, share: float
) -> None:
    decision = decide(new, known(old, similarity=0.55), reads=reads, share=share)
    assert decision.verdict is Verdict.KEEP_BOTH


def test_a_new_form_of_address_replaces_the_old_one() -> None:
    decision = decide("以后叫我小岚", known("以后叫我岚姐"), reads="newer")
    assert decision.verdict is Verdict.REPLACE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("俺叫郑大军", "现在搁郑州开大货车恁就叫我老郑"),
        ("My name is Deborah Finch", "I'm at the school all day so just call me Deb"),
    ],
)
def test_a_form_of_address_never_replaces_the_name(old: str, new: str) -> None:
    decision = decide(candidate(new, corrects=True), old, reads="newer")
    assert decision.verdict is Verdict.KEEP_BOTH


@pytest.mark.parametrize(
    ("old", "new"),
    [("我住在高新区中和", "[我]已经搬到金融城了"), ("I live in Leeds", "We've just moved to York")],
)
def test_a_move_ends_the_old_home(old: str, new: str) -> None:
    one = candidate(new, kind="event", corrects=True)
    assert decide(one, old, reads="newer").verdict is Verdict.REPLACE
    planned = candidate(new, kind="event", reasons=("self.planned",))
    assert decide(planned, old, reads="newer").verdict is Verdict.KEEP_BOTH


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Vivo en Madrid", "Me mudé a Sevilla"),
        ("Ich wohne in Köln", "Ich bin nach Berlin gezogen"),
        ("J'habite à Lyon", "J'ai déménagé à Paris"),
        ("東京に住んでいます", "大阪に引っ越しました"),
    ],
)
def test_a_move_in_a_language_without_pairs_needs_no_conflict(old: str, new: str) -> None:
    one = candidate(new, kind="event", reasons=("self.past",))
    assert decide(one, old, reads="unrelated").verdict is Verdict.REPLACE
    other = candidate("Toca el piano", kind="fact")
    assert decide(other, old, reads="unrelated").verdict is not Verdict.REPLACE


@pytest.mark.parametrize(
    ("old", "said", "new", "wrong", "text"),
    [
        (
            *("我儿子小名豆豆七岁上二年级", "豆豆是一年级 不是二年级", "豆豆是一年级", "二年级"),
            "我儿子小名豆豆七岁上一年级",
        ),
        (
            *("[豆豆在学钢琴]每周六上午十点", "豆豆钢琴课是周日上午不是周六"),
            *("豆豆钢琴课是周日上午", "周六", "[豆豆在学钢琴]每周日上午十点"),
        ),
        (
            *("Leo has piano every Saturday at ten", "Leo's piano lesson is Sunday, not Saturday"),
            *("Leo's piano lesson is Sunday", "Saturday", "Leo has piano every Sunday at ten"),
        ),
    ],
)  # fmt: skip
def test_a_correction_changes_the_wrong_value_of_a_memory(
    old: str, said: str, new: str, wrong: str, text: str
) -> None:
    one = candidate(new, quote=said, corrects=True, old_value=wrong)
    decision = decide(one, known(old, kind="pattern"))
    assert (decision.verdict, decision.content) == (Verdict.MERGE, text)
    assert (decision.kind, decision.reasons) == ("pattern", ("corrected",))
    other = decide(one, known("Mina is in year two, since Saturday"))
    assert other.verdict is Verdict.ADD


@pytest.mark.parametrize("reads", ["newer", "contradicts"])
@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (
            "type 2 diabetic since 2019 on metformin twice a day",
            "moved off metformin to gliclazide",
            "type 2 diabetic since 2019 on gliclazide twice a day",
        ),
        (
            "im off wednesdays and sundays",
            "swapped my day off from wednesday to monday",
            "im off mondays and sundays",
        ),
        (
            "my skittles team is the alley cats, we play thursdays",
            "skittles has moved to mondays",
            "my skittles team is the alley cats, we play mondays",
        ),
        ("我有糖尿病，在吃二甲双胍", "医生把二甲双胍换成格列齐特了", "我有糖尿病，在吃格列齐特"),
        ("我周三和周日休息", "我把休息日从周三换成周一了", "我周一和周日休息"),
    ],
)
def test_a_new_value_spares_the_other_parts_of_a_memory(
    old: str, new: str, text: str, reads: str
) -> None:
    decision = decide(candidate(new, corrects=True), old, reads=reads, share=0.99)
    assert (decision.verdict, decision.content) == (Verdict.MERGE, text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("type 2 diabetic since 2019 on metformin twice a day", "metformin is now gliclazide"),
        ("我有2型糖尿病，在吃二甲双胍", "二甲双胍停了，现在用格列齐特"),
    ],
)
def test_a_new_value_for_an_unclear_part_is_asked_about(old: str, new: str) -> None:
    decision = decide(candidate(new, corrects=True), old, reads="newer", share=0.99)
    assert decision.verdict is Verdict.REVIEW


SUZHOU, FLIGHT = "我妈住在苏州", "从苏州出发"


@pytest.mark.parametrize(("old", "content"), [([SUZHOU], "我妈住在无锡"), ([SUZHOU, FLIGHT], None)])
def test_a_bare_correction_changes_the_only_memory_that_it_fits(
    old: list[str], content: str | None
) -> None:
    said = "不是苏州是无锡"
    one = candidate(said, corrects=True, old_value="苏州", confidence=0.4)
    decision = decide(one, *old)
    assert decision.content == content
    assert (decision.verdict is Verdict.MERGE) == (content is not None)


@pytest.mark.parametrize("reads", ["newer", "ended"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我戒烟了", "我血型是O型"),
        ("数学月考61", "今年开春就改跑广州了"),
        ("月租7200", "我延毕了，原定六月，现在十二月"),
        ("I quit smoking", "my blood type is O"),
        ("rent is due on the 3rd", "we've moved choir to Fridays now"),
    ],
)
def test_a_statement_on_another_matter_replaces_nothing_unasked(
    old: str, new: str, reads: str
) -> None:
    said = candidate(new, corrects=reads == "newer")
    decision = decide(said, known(old, similarity=0.2), reads=reads, share=0.97)
    assert decision.verdict in (Verdict.ADD, Verdict.KEEP_BOTH, Verdict.REVIEW)


def test_what_shares_no_word_but_much_meaning_is_replaced() -> None:
    decision = decide("had a son", known("is pregnant", similarity=0.5), reads="newer", share=0.97)
    assert decision.verdict is Verdict.REPLACE


def test_a_correction_leaves_alone_what_shares_only_a_name() -> None:
    gone = candidate("theo isnt in lyon anymore", corrects=True)
    assert decide(gone, "theo is 27", reads="newer", share=0.57).verdict in (
        Verdict.ADD,
        Verdict.KEEP_BOTH,
    )


@pytest.mark.parametrize(
    ("old", "said", "new"),
    [
        ("我女朋友小敏对花生过敏", "我女朋友叫小闵 不是小敏", "我女朋友小闵对花生过敏"),
        (
            "my girlfriend Marta is allergic to peanuts",
            "she is called Martha, not Marta",
            "my girlfriend Martha is allergic to peanuts",
        ),
    ],
)
def test_a_corrected_name_changes_only_the_name_even_of_a_constraint(
    old: str, said: str, new: str
) -> None:
    (name,) = extract(said).candidates
    decision = decide(name, known(old, kind="constraint"), reads="contradicts")
    assert (decision.verdict, decision.content) == (Verdict.MERGE, new)
    assert decision.kind == "constraint"


def test_an_event_never_replaces_a_lasting_statement_as_the_fuller_text() -> None:
    trip = candidate("14th to 21st Feb in Tenerife, me, the twins and my mum", kind="event")
    twins = known("I've got twins", similarity=0.3)
    assert decide(trip, twins, reads="refines").verdict is Verdict.ADD
    near = known("I've got twins", similarity=0.6)
    assert decide(trip, near, reads="refines").verdict is Verdict.KEEP_BOTH


@pytest.mark.parametrize(
    ("kind", "verdict"), [("event", Verdict.REPLACE), ("fact", Verdict.KEEP_BOTH)]
)
def test_a_plan_that_is_called_off_ends_an_event_but_no_present_fact(
    kind: str, verdict: Verdict
) -> None:
    off = candidate("成都去不成了", kind="task")
    old = known("国庆节去成都看大熊猫", kind=kind, similarity=0.6)
    assert decide(off, old, reads="ended").verdict is verdict


@pytest.mark.parametrize(
    ("memory", "said", "is_part"),
    [
        ("Zuri is 9 and Theo is 6", "Zuri is 10", True),
        ("I earn 2,800", "I earn 3,100 now", False),
        ("rent is 2,800, gas is 90", "rent is 2,900", True),
    ],
)
def test_a_comma_in_a_number_separates_no_items(memory: str, said: str, is_part: bool) -> None:
    assert conflicts.changes_part(candidate(said), known(memory)) is is_part
