import numpy as np
import pytest

from memcenter.lib.errors import ProviderError
from memcenter.providers.base import ChatMessage, ChatModel, Embedder
from memcenter.providers.fake import HashingEmbedder, ScriptedChatModel

QUESTION = [ChatMessage(role="user", content="hello")]


def test_hashed_vectors_are_unit_and_alike_where_words_are_shared() -> None:
    embedder: Embedder = HashingEmbedder(dimensions=64)
    cat, cats, train, empty = embedder.embed(["a black cat", "black cats", "a late train", ""])
    assert np.allclose([np.linalg.norm(each) for each in (cat, train, empty)], 1)
    assert cat @ cats > 0.99 > 0.5 > cat @ train


def test_scripted_answers_come_in_order_and_the_questions_are_remembered() -> None:
    model = ScriptedChatModel("one", ["tw", "o"])
    served: ChatModel = model
    assert list(served.reply(QUESTION)) == ["one"]
    assert list(served.reply([])) == ["tw", "o"]
    assert model.asked == [QUESTION, []]


def test_a_scripted_error_is_raised_and_so_is_the_end_of_the_script() -> None:
    model = ScriptedChatModel(ProviderError("down", retryable=True))
    with pytest.raises(ProviderError, match="down"):
        model.reply(QUESTION)
    with pytest.raises(ProviderError, match="no answer left"):
        model.reply(QUESTION)
