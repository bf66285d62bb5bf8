from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.retrieval.hybrid import rank
from memories.retrieval.query import analyse
from memories.retrieval.ranking_types import Unit

MAY = datetime(2026, 5, 1, 9, tzinfo=UTC)
QUESTIONS = (
    "What's my profession?",
    "我五月二号吃了什么？",
    "How many dogs has Ann got?",
    "When did Bob adopt QX-77?",
    "",
)
WORDS = st.lists(
    st.sampled_from(["profession", "nurse", "dog", "ann", "bob", "adopt", "qx-77", "吃", "医生"]),
    max_size=5,
)
TEXTS = st.tuples(st.floats(-1, 1), WORDS, st.booleans(), st.integers(0, 6))


def unit(number: int, cosine: float, words: list[str], missing: bool, day: int, kind: str) -> Unit:
    spoken = kind == "message"
    return Unit(
        *(kind, f"{kind}{number}", " ".join(words), words),
        cosine=None if missing else cosine,
        length=len(words),
        at=MAY + timedelta(days=day),
        conversation="c" if spoken else "",
        position=number if spoken else None,
        speaker="Ann" if number % 2 else "Bob",
    )


@settings(max_examples=60, deadline=None)
@given(
    question=st.sampled_from(QUESTIONS),
    texts=st.lists(TEXTS, max_size=8),
    kind=st.sampled_from(["memory", "message"]),
)
def test_the_parts_of_every_result_add_up_to_its_relevance(
    question: str, texts: list[tuple[float, list[str], bool, int]], kind: str
) -> None:
    query = analyse(question, speakers=["Ann", "Bob"])
    units = [unit(number, *text, kind) for number, text in enumerate(texts)]
    for one in rank(query, units):
        assert sum(one.parts.values()) == pytest.approx(one.relevance, abs=1e-6)
        assert 0 <= one.relevance <= 1


@settings(max_examples=40, deadline=None)
@given(
    question=st.sampled_from(QUESTIONS),
    texts=st.lists(TEXTS, max_size=8),
    kind=st.sampled_from(["memory", "message"]),
    limit=st.integers(0, 9),
)
def test_the_same_texts_are_ranked_the_same_way_each_time(
    question: str, texts: list[tuple[float, list[str], bool, int]], kind: str, limit: int
) -> None:
    query = analyse(question, speakers=["Ann", "Bob"])
    units = [unit(number, *text, kind) for number, text in enumerate(texts)]
    whole = rank(query, units)
    assert rank(analyse(question, speakers=["Ann", "Bob"]), list(units)) == whole
    assert rank(query, units, limit=limit) == whole[:limit]


@given(others=st.lists(TEXTS, min_size=1, max_size=6))
@settings(max_examples=30, deadline=None)
def test_the_relevance_of_a_memory_does_not_depend_on_nearer_ones(
    others: list[tuple[float, list[str], bool, int]],
) -> None:
    query = analyse("Where do I live?")
    mine = unit(0, 0.4, [], False, 0, "memory")
    strangers = [unit(n, text[0], [], *text[2:], "memory") for n, text in enumerate(others, 1)]
    [alone] = rank(query, [mine])
    among = next(one for one in rank(query, [mine, *strangers]) if one.unit is mine)
    assert among.relevance == alone.relevance
