from dataclasses import replace
from typing import Any

import pytest

from memories.extraction.arbitration.pairs import join
from memories.forgetting.forget_plan import Text, VersionOutcome, VersionSource, plan

ONE, TWO, THREE = (VersionSource(f"turn {n}", forgotten=False) for n in (1, 2, 3))


def forgotten(source: VersionSource) -> VersionSource:
    return replace(source, forgotten=True)


def version(number: int, content: str, *sources: VersionSource, **fields: Any) -> Text:
    return Text(id=number, memory=1, content=content, sources=sources, **fields)


def test_what_has_lost_nothing_is_kept() -> None:
    outcome = plan([version(1, "Likes tea", ONE)])[1]
    assert outcome == VersionOutcome("Likes tea", "", changed=False)


def test_a_version_whose_only_source_is_forgotten_is_erased() -> None:
    outcome = plan([version(1, "Likes tea", forgotten(ONE))])[1]
    assert outcome.erased and outcome.changed


def test_a_replaced_text_does_not_depend_on_the_one_before() -> None:
    texts = [version(1, "Likes tea", forgotten(ONE)), version(2, "Likes coffee", TWO)]
    outcomes = plan(texts)
    assert outcomes[1].erased
    assert not outcomes[2].changed


def test_a_merge_without_its_first_source_says_only_the_candidate() -> None:
    texts = [
        version(1, "Likes tea", forgotten(ONE)),
        version(2, "Likes tea and jazz", TWO, forgotten(ONE), candidate="Likes jazz", inputs=[1]),
    ]
    assert plan(texts)[2] == VersionOutcome("Likes jazz", "Likes jazz", changed=True)


def test_a_merge_without_its_second_source_says_only_the_input() -> None:
    texts = [
        version(1, "Likes tea", ONE),
        version(2, "Likes tea and jazz", forgotten(TWO), ONE, candidate="Likes jazz", inputs=[1]),
    ]
    assert plan(texts)[2] == VersionOutcome("Likes tea", "", changed=True)


def test_deriving_again_goes_on_through_what_was_merged_from_a_merge() -> None:
    texts = [
        version(1, "Likes tea", forgotten(ONE)),
        version(2, "Likes tea, jazz", TWO, forgotten(ONE), candidate="Likes jazz", inputs=[1]),
        version(
            3,
            "Likes tea, jazz, chess",
            THREE,
            TWO,
            forgotten(ONE),
            candidate="Likes chess",
            inputs=[2],
        ),
    ]
    assert plan(texts)[3].content == "Likes jazz; Likes chess"


def test_what_was_consolidated_loses_only_the_input_that_went() -> None:
    texts = [
        Text(1, 1, "Runs on Mondays", sources=[forgotten(ONE)]),
        Text(2, 2, "Runs on Fridays", sources=[TWO]),
        Text(3, 3, "Runs twice a week", sources=[forgotten(ONE), TWO], inputs=[1, 2]),
    ]
    assert plan(texts)[3] == VersionOutcome("Runs on Fridays", "", changed=True)


def test_what_came_from_a_forgotten_memory_is_derived_without_it() -> None:
    texts = [
        Text(1, 1, "Runs on Mondays", sources=[ONE]),
        Text(2, 2, "Runs on Fridays", sources=[TWO]),
        Text(3, 3, "Runs twice a week", sources=[ONE, TWO], inputs=[1, 2]),
    ]
    outcomes = plan(texts, gone=[1])
    assert outcomes[1].erased
    assert outcomes[3].content == "Runs on Fridays"


def test_a_source_that_was_only_added_changes_nothing_by_going() -> None:
    text = version(1, "Likes tea", ONE, forgotten(TWO))
    assert not plan([text])[1].changed


def test_when_the_first_source_goes_the_words_of_the_other_are_taken() -> None:
    other = VersionSource("turn 2", forgotten=False, statement="Prefers tea")
    text = version(1, "Likes green tea from Hangzhou", forgotten(ONE), other)
    assert plan([text])[1].content == "Prefers tea"


def test_a_persons_own_words_stay_as_long_as_any_source_does() -> None:
    text = version(
        1, "Likes tea", forgotten(ONE), VersionSource("page", forgotten=False), by_person=True
    )
    assert not plan([text])[1].changed


def test_a_restored_text_goes_with_what_it_was_restored_from() -> None:
    texts = [
        version(1, "Likes tea", forgotten(ONE)),
        version(2, "Likes coffee", TWO),
        version(3, "Likes tea", forgotten(ONE), inputs=[1]),
    ]
    outcomes = plan(texts)
    assert outcomes[3].erased and not outcomes[2].changed


def test_an_erased_version_is_not_erased_again() -> None:
    assert plan([version(1, "", erased=True)])[1] == VersionOutcome("", "", changed=False)


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["Likes tea."], "Likes tea."),
        (["Likes tea.", "Likes jazz."], "Likes tea; Likes jazz"),
        (["喜欢喝茶。", "喜欢爵士乐。"], "喜欢喝茶；喜欢爵士乐"),
        (["Likes tea", "likes TEA!"], "Likes tea"),
        (["Likes tea", "Likes tea and jazz"], "Likes tea and jazz"),
        ([" ", ""], ""),
    ],
)
def test_pieces_become_one_text_that_says_each_thing_once(pieces: list[str], text: str) -> None:
    assert join(pieces) == text


def test_what_rests_on_two_turns_together_goes_with_either() -> None:
    trip, day = VersionSource("trip", False, joint=True), VersionSource("day", False, joint=True)
    for sources in ([forgotten(trip), day], [trip, forgotten(day)]):
        assert plan([version(1, "Trip to Kyoto on 2026-05-03", *sources)])[1].erased


def test_a_part_that_went_leaves_what_another_turn_says_by_itself() -> None:
    whole = VersionSource("whole", False, statement="Trip to Kyoto on 2026-05-03")
    sources = [
        forgotten(VersionSource("trip", False, joint=True)),
        VersionSource("day", False, joint=True),
        whole,
    ]
    assert plan([version(1, "Trip to Kyoto on 2026-05-03", *sources)])[1].content == whole.statement


def test_a_merge_with_what_two_turns_say_together_loses_only_that() -> None:
    texts = [
        version(1, "Likes trips", ONE),
        version(
            2,
            "Likes trips; Trip to Kyoto on 2026-05-03",
            ONE,
            forgotten(VersionSource("trip", False, joint=True)),
            VersionSource("day", False, joint=True),
            candidate="Trip to Kyoto on 2026-05-03",
            inputs=[1],
        ),
    ]
    assert plan(texts)[2] == VersionOutcome("Likes trips", "", changed=True)
