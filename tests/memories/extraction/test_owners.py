"""Whose a statement is, and that nobody's statement changes somebody else's."""

from __future__ import annotations

import pytest

from memories.extraction.types import Verdict
from memories.extraction.wording.owners import Ownership, ownership
from tests.memories.extraction.test_arbitrate import candidate, decide, known

SWIM, THEO = "now i just swim", "theo does swimming sat mornings"


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        (SWIM, THEO, Ownership.OTHER),
        ("my birthday is the 4th of may", "he [theo] had his birthday", Ownership.OTHER),
        ("my birthday is the 4th of may", "my birthday is the 3rd of may", Ownership.SAME),
        ("theo is 7", "two kids mia whos 9 and theo 6", Ownership.SAME),
        ("hes my ex now", "hes [my husband] a chef", Ownership.UNSURE),
        ("my mum lives in York", "my mother lives in Leeds", Ownership.UNSURE),
        ("my mum lives in York", "my brother lives in Leeds", Ownership.OTHER),
        ("my husband Rob is a chef", "he [rob] is a baker", Ownership.SAME),
        ("Tom moved out", "I live with Tom", Ownership.SAME),
        ("my wife and I moved to Berlin", "I live in Munich", Ownership.SAME),
        ("my wife moved to Berlin", "I live with my friend", Ownership.UNSURE),
        ("Favourite band is now Wet Leg", "Favourite band is Muse", Ownership.SAME),
        ("Usually wakes up at 7", "I wake up at 5:30", Ownership.SAME),
        ("The cat is ill", "I like cats", Ownership.SAME),
        ("我妈搬去三亚", "我住在成都", Ownership.OTHER),
        ("狗叫豆包", "狗叫年糕", Ownership.SAME),
        ("jake quit football", "jake and mia play football", Ownership.UNSURE),
        ("mia and jake quit football", "jake and mia play football", Ownership.SAME),
        ("[我]老公不去健身房了", "我和老公都在健身房锻炼", Ownership.UNSURE),
        ("朵朵不学琴了", "豆豆和朵朵都在学琴", Ownership.UNSURE),
        ("[我]跟阿Ken分了", "[我]男朋友阿Ken", Ownership.SAME),
        ("[我]跟Miya合租", "[我]男朋友阿Ken", Ownership.OTHER),
    ],
)
def test_the_owner_is_whoever_a_statement_mentions_first(
    first: str, second: str, found: Ownership
) -> None:
    assert ownership(first, second) is found
    assert ownership(second, first) is found


@pytest.mark.parametrize("reads", ["newer", "ended", "contradicts", "same"])
def test_a_statement_changes_and_repeats_nothing_of_somebody_else(reads: str) -> None:
    assert decide(SWIM, THEO, reads=reads).verdict is Verdict.ADD
    sure = candidate(SWIM, corrects=True, explicit=True)
    assert decide(sure, known(THEO, similarity=0.7), reads=reads).verdict is Verdict.KEEP_BOTH


def test_where_the_owner_is_unsure_the_person_is_asked() -> None:
    for new in (candidate("hes my ex now"), candidate("hes my ex now", corrects=True)):
        decision = decide(new, "hes [my husband] a chef", reads="newer")
        assert (decision.verdict, decision.reasons) == (Verdict.REVIEW, ("contradicts",))


def test_who_is_named_wrongly_is_replaced_by_who_is_meant() -> None:
    right = candidate("theo is allergic to nuts", corrects=True, old_value="mia")
    decision = decide(right, "mia is allergic to nuts", reads="newer")
    assert (decision.verdict, decision.reasons) == (Verdict.REPLACE, ("corrected",))


@pytest.mark.parametrize("reads", ["newer", "contradicts"])
def test_a_name_alone_is_no_common_matter(reads: str) -> None:
    school = known("theos school is st chads primary", similarity=0.2)
    test = candidate("theos allergy test came back negative")
    assert decide(test, school, reads=reads, share=0.94).verdict is Verdict.KEEP_BOTH
    older = decide("theo is 8", known("theo is 7", similarity=0.2), reads=reads)
    assert older.verdict in (Verdict.REPLACE, Verdict.REVIEW)


@pytest.mark.parametrize(
    ("new", "old", "verdict"),
    [
        ("我弟都高三了", "我弟阿越高二", Verdict.REPLACE),
        ("朵朵都三年级了", "朵朵上二年级", Verdict.REPLACE),
        ("我弟都长胡子了", "我弟阿越高二", Verdict.KEEP_BOTH),
    ],
)
def test_another_year_of_school_takes_the_place_of_the_old_one(
    new: str, old: str, verdict: Verdict
) -> None:
    for corrects in (True, False):
        right = candidate(new, corrects=corrects)
        assert decide(right, known(old), reads="newer", share=0.78).verdict is verdict
