import pytest

from memories.extraction.arbitrate import read
from memories.extraction.arbitration.pair_judge import CLASSES, Judged, decide, judge
from memories.extraction.arbitration.pairing import APART, BESIDE, Finding, Pair
from memories.extraction.arbitration.settling import settle, settled
from memories.extraction.types import Verdict


def pair(old: str, new: str, *, similarity: float = 0.6) -> Pair:
    return Pair(
        new=read(new), old=read(old), similarity=similarity, corrects=False, decided=False
    )  # fmt: skip


def judged(**shares: float) -> Judged:
    return Judged(
        shares={name: shares.get(name, 0.0) for name in CLASSES},
        evidence=dict.fromkeys(CLASSES, "cosine"),
    )


@pytest.mark.parametrize(("update", "clash"), [(0.3, 0.3), (0.0, 0.9), (0.45, 0.4)])
def test_what_may_be_a_change_or_a_contradiction_is_asked_about(
    update: float, clash: float
) -> None:
    found = decide(pair("Keeps hens", "Has no animals"), BESIDE, judged(update=update, clash=clash))
    assert (found.verdict, found.reason) == (Verdict.REVIEW, "judged_conflict")
    assert found.evidence == "cosine"


def test_a_far_memory_is_neither_replaced_nor_contested() -> None:
    far = pair("Keeps hens", "Sold the van", similarity=0.2)
    assert decide(far, APART, judged(update=0.9)) == APART


def test_a_memory_of_another_subject_is_not_replaced() -> None:
    other = pair("Sister lives in Krakow", "Moved to Split")
    assert decide(other, BESIDE, judged(update=0.9)).verdict is not Verdict.REPLACE


def test_a_repeat_that_brings_a_new_figure_is_not_skipped() -> None:
    more = pair("Keeps hens", "Keeps 9 hens")
    assert decide(more, BESIDE, judged(same=0.9)).verdict is not Verdict.SKIP


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Likes the band qxbbtwbbd", "Likes the band qxbbtwbcp"),
        ("喜欢qxbbtwbbl的书", "喜欢qxbbtwbdb的书"),
        ("Enjoys the films of kurosawa", "Enjoys the films of tarkovsky"),
        ("对青霉素过敏", "对头孢克肟过敏"),
    ],
)
def test_a_word_nobody_uses_every_day_is_never_taken_for_another(old: str, new: str) -> None:
    alike = pair(old, new, similarity=0.98)
    assert decide(alike, BESIDE, judged(same=1.0)).verdict is not Verdict.SKIP
    assert settle(alike).verdict is not Verdict.SKIP


@pytest.mark.parametrize(
    ("old", "new"), [("Works with Rust", "Works with Go"), ("Likes the band Yes", "Likes The Who")]
)
def test_a_name_that_is_a_stop_word_is_not_passed_over(old: str, new: str) -> None:
    assert settle(pair(old, new)).verdict is not Verdict.SKIP


def test_strong_rules_are_not_overruled() -> None:
    found = Finding(Verdict.REPLACE, "newer_value")
    assert settled(pair("Is 35", "Is 36"), found, judged(same=1.0)) == found


def test_the_shares_of_all_classes_make_one() -> None:
    for old, new in (("Lives in Gdansk", "Keeps hens"), ("", ""), ("养龟", "龟放生了")):
        assert sum(judge(pair(old, new), APART).shares.values()) == pytest.approx(1)
