from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from bench import extraction
from bench.extraction import LabelledTurn, TurnResult, figures, outcome, read_turns
from bench.labelled import Label, says
from memories.extraction.types import (
    Candidate,
    Extraction,
    ForgetRequest,
    RefusedSecret,
    TurnText,
    Utterance,
)

AT = datetime(2025, 6, 11, tzinfo=UTC)


class Scripted:
    name = "scripted"

    def __init__(self, extraction: Extraction) -> None:
        self._extraction = extraction

    def extract(self, turn: TurnText) -> Extraction:
        return self._extraction


def memory(content: str, *, kind: str = "fact", importance: float = 0.7) -> Candidate:
    return Candidate(kind, content, importance, 0.9, quote=content)


def label(*must: Sequence[str], kinds: str = "fact", optional: bool = False) -> Label:
    return Label(frozenset(kinds.split()), tuple(map(tuple, must)), ("he",), optional)


def judged(
    *memories: Candidate,
    labels: Sequence[Label] = (),
    secrets: Sequence[str] = (),
    refused: Sequence[RefusedSecret] = (),
    forget: Sequence[ForgetRequest] = (),
    language: str = "en",
) -> TurnResult:
    turn = LabelledTurn(
        id="en-001",
        part="dev",
        category="fact",
        turn=TurnText(Utterance("said", AT), Utterance("answered", AT)),
        labels=tuple(labels),
        refused=(("password", "api_key"),) if secrets else (),
        secrets=tuple(secrets),
        forget=((("jazz",),),) if forget else (),
    )
    found = Extraction(tuple(memories), tuple(refused), tuple(forget))
    return outcome(turn, extractor=Scripted(found), language=language)


@pytest.mark.parametrize(
    ("text", "keyword", "found"),
    [
        ("Loves the sea", "he", False),
        ("He's a pilot", "he", True),
        ("Allergic to peanuts", "allerg*", True),
        ("Allergic to peanuts", "peanut", False),
        ("Doesn’t eat pork", "*n't", True),
        ("不吃香菜", "香菜", True),
        ("用ＶＩＭ写代码", "vim", True),
        ("In 2025-03-21", "03-21", True),
        ("Turned 136", "36", False),
    ],
)
def test_latin_keywords_are_words_and_chinese_ones_are_parts(
    text: str, keyword: str, found: bool
) -> None:
    assert says(text, keyword) is found


def test_a_memory_that_says_all_but_also_what_it_must_not_is_wrong() -> None:
    one = judged(memory("He is a pilot"), labels=[label(["pilot"])])

    assert len(one.wrong) == 1
    assert len(one.missed) == 1


def test_every_label_gets_a_memory_of_its_own_where_that_can_be() -> None:
    both, narrow = memory("A vet in Porto"), memory("A vet")

    one = judged(both, narrow, labels=[label(["vet"]), label(["Porto"])])

    assert len(one.right) == 2
    assert one.wrong == []


def test_one_memory_may_say_what_two_labels_want() -> None:
    one = judged(memory("A vet in Porto"), labels=[label(["vet"]), label(["Porto"])])

    assert figures([one])["recall"] == 1.0
    assert figures([one])["precision"] == 1.0


def test_saying_the_same_twice_counts_against_precision() -> None:
    one = judged(memory("A vet"), memory("Works as a vet"), labels=[label(["vet"])])

    assert figures([one])["precision"] == 0.5


def test_what_is_optional_counts_neither_way() -> None:
    taken = judged(memory("Has a cat"), labels=[label(["cat"], optional=True)])
    left = judged(labels=[label(["cat"], optional=True)])

    assert figures([taken, left])["precision"] is None
    assert figures([taken, left])["recall"] is None


def test_what_is_too_unimportant_to_be_kept_is_not_judged() -> None:
    assert judged(memory("Had soup", importance=0.2)).found == ()


def test_a_kind_is_right_when_any_label_that_fits_has_it() -> None:
    wanted = [label(["dad"], kinds="fact"), label(["cycles"], kinds="pattern")]

    right = judged(memory("My dad cycles", kind="pattern"), labels=wanted)
    wrong = judged(memory("My dad cycles", kind="task"), labels=wanted)

    assert figures([right])["kind"] == 1.0
    assert figures([wrong])["kind"] == 0.0


def test_a_secret_counts_as_refused_only_when_reported_and_kept_nowhere() -> None:
    reported = [RefusedSecret("password", redacted=False)]

    good = judged(secrets=["hunter 22"], refused=reported)
    silent = judged(secrets=["hunter 22"])
    leaked = judged(memory("Password is HUNTER22"), secrets=["hunter 22"], refused=reported)

    assert [one.secrets_refused for one in (good, silent, leaked)] == [True, False, False]
    assert [one.leaked for one in (good, silent, leaked)] == [False, False, True]


def test_a_secret_in_a_forget_request_is_a_leak() -> None:
    one = judged(secrets=["hunter22"], forget=[ForgetRequest("hunter22", "forget hunter22")])

    assert one.leaked


def test_a_forget_request_is_met_by_what_it_is_about() -> None:
    met = judged(forget=[ForgetRequest("I like jazz", "forget that I like jazz")])
    other = judged(forget=[ForgetRequest("the rent", "forget the rent")])

    assert figures([met, other])["forget"] == 0.5


def test_a_memory_in_the_other_language_is_counted() -> None:
    english = judged(memory("住在绍兴"), language="en")
    chinese = judged(memory("Lives in Shaoxing"), language="zh")
    kept = judged(memory("住在绍兴"), language="zh")

    assert [one.foreign for one in (english, chinese, kept)] == [1, 1, 0]


def test_the_texts_of_the_report_part_are_never_printed(capsys: pytest.CaptureFixture[str]) -> None:
    extraction.main(["--show", "dev"])

    shown = capsys.readouterr().out
    turns = [one for language in ("en", "zh") for one in read_turns(language)]
    assert any(repr(one.turn.user.text) in shown for one in turns if one.part == "dev")
    assert not any(repr(one.turn.user.text) in shown for one in turns if one.part == "report")
