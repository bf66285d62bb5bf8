from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from foundation.errors import ProviderError
from foundation.providers.base import (
    ChatMessage,
    CircuitOpen,
    Completion,
    CompletionModel,
    TooLong,
)
from foundation.providers.openai_compatible import CircuitBreaker, Endpoint, OpenAICompatibleModel
from tests.chat_server import Answer, ChatServer, completion, refused, said, serving, streamed

SECRET = "the user likes oolong"
QUESTION = [ChatMessage("system", "Be brief."), ChatMessage("user", SECRET)]
SCHEMA = {"type": "object", "properties": {"x": {"type": "number"}}}


class Asking:
    """A model at a server, with what it waited between its tries."""

    def __init__(self, server: ChatServer, **endpoint: object) -> None:
        values = {"base_url": server.url, "model": "tiny", "timeout": 5.0} | endpoint
        self.server = server
        self.waited: list[float] = []
        self.now = 0.0
        self.model = OpenAICompatibleModel(
            Endpoint(**values),  # type: ignore[arg-type]
            breaker=CircuitBreaker(failures=3, rest=30, clock=lambda: self.now),
            sleep=self.waited.append,
        )

    def ask(self) -> Completion:
        return self.model.complete(QUESTION, schema=SCHEMA, max_tokens=50)

    def fails(self) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            self.ask()
        assert SECRET not in str(caught.value)
        return caught.value


@contextmanager
def asking(*answers: Answer, **endpoint: object) -> Iterator[Asking]:
    with serving(*answers) as server:
        one = Asking(server, **endpoint)
        try:
            yield one
        finally:
            one.model.close()


def pieces(model: OpenAICompatibleModel, messages: Sequence[ChatMessage] = QUESTION) -> list[str]:
    return list(model.reply(messages))


def test_a_whole_answer_comes_with_what_it_took() -> None:
    with asking(said('{"x": 1}')) as one:
        served: CompletionModel = one.model
        found = served.complete(QUESTION, schema=SCHEMA, max_tokens=50)
    assert found == Completion('{"x": 1}', truncated=False, input_tokens=7, output_tokens=5)
    question = one.server.asked[0]
    assert (question["model"], question["max_tokens"], question["temperature"]) == ("tiny", 50, 0)
    assert question["messages"][1] == {"role": "user", "content": SECRET}
    assert question["response_format"]["json_schema"]["schema"] == SCHEMA


def test_an_answer_that_was_cut_off_says_so() -> None:
    with asking(said('{"x": 1', finish="length")) as one:
        assert one.ask().truncated


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "many", "completion_tokens": -3}])
def test_a_server_that_doesnt_count_leaves_the_counts_open(usage: object) -> None:
    with asking(said("{}", usage=usage)) as one:
        found = one.ask()
    assert (found.input_tokens, found.output_tokens) == (None, None)


@pytest.mark.parametrize("status", [500, 502, 503, 429, 408])
def test_a_busy_server_is_asked_again_growing_slower(status: int) -> None:
    with asking(refused(status), refused(status), said("{}")) as one:
        assert one.ask().text == "{}"
        assert one.waited == [0.5, 1.0]


def test_a_server_that_stays_broken_is_a_failure_that_may_pass() -> None:
    with asking(refused(500, message=SECRET)) as one:
        assert one.fails().retryable
        assert len(one.server.asked) == 3


def test_the_server_says_how_long_to_wait() -> None:
    with asking(refused(429, headers={"Retry-After": "3"}), said("{}")) as one:
        assert one.ask().text == "{}"
        assert one.waited == [3.0]


@pytest.mark.parametrize("asked", ["90", "1e9"])
def test_who_asks_for_a_long_wait_gets_it_from_the_operation(asked: str) -> None:
    with asking(refused(429, headers={"Retry-After": asked})) as one:
        assert one.fails().retryable
        assert (one.waited, len(one.server.asked)) == ([], 1)


@pytest.mark.parametrize("asked", ["soon", "Wed, 21 Oct 2026 07:28:00 GMT", "-5"])
def test_a_strange_wait_is_not_believed(asked: str) -> None:
    with asking(refused(429, headers={"Retry-After": asked}), said("{}")) as one:
        assert one.ask().text == "{}"
        assert one.waited[0] in (0.0, 0.5)


@pytest.mark.parametrize(
    "answer",
    [
        refused(400, code="context_length_exceeded"),
        refused(400, type="exceed_context_size_error", n_ctx=4096),
        refused(400, message="This model's maximum context length is 4096 tokens."),
        refused(413),
    ],
)
def test_too_much_text_is_told_apart(answer: Answer) -> None:
    with asking(answer) as one:
        failure = one.fails()
    assert isinstance(failure, TooLong)
    assert not failure.retryable


@pytest.mark.parametrize("status", [302, 307])
def test_no_server_leads_to_another(status: int) -> None:
    """Into the network of the house, say, and with what people said."""
    with serving(said("Yes.")) as other:
        led = refused(status, headers={"Location": f"{other.url}/chat/completions"})
        with asking(led) as one:
            assert not one.fails().retryable
        assert other.named == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 501])
def test_a_refusal_is_final(status: int) -> None:
    with asking(refused(status, message=f"no: {SECRET}")) as one:
        failure = one.fails()
        assert not failure.retryable
        assert str(status) in str(failure)
        assert len(one.server.asked) == 1


@pytest.mark.parametrize("name", ["response_format", "temperature"])
def test_what_a_server_doesnt_know_is_left_out_from_then_on(name: str) -> None:
    with asking(refused(400, param=name), said("{}")) as one:
        one.ask()
        one.ask()
        assert [name in question for question in one.server.asked] == [True, False, False]


def test_the_newer_name_of_the_limit_is_found() -> None:
    unknown = refused(400, message="Unsupported parameter: 'max_tokens'.", param="max_tokens")
    with asking(unknown, said("{}")) as one:
        one.ask()
        assert one.server.asked[-1]["max_completion_tokens"] == 50
        assert "max_tokens" not in one.server.asked[-1]


def test_silence_is_waited_for_once() -> None:
    with asking(Answer(silent=True), timeout=0.1) as one:
        assert one.fails().retryable
        assert len(one.server.asked) == 1


def test_a_server_that_isnt_there_is_a_failure_that_may_pass() -> None:
    with serving() as gone:
        one = Asking(gone)
    failure = one.fails()
    one.model.close()
    assert failure.retryable
    assert one.waited == [0.5, 1.0]


@pytest.mark.parametrize(
    "answer",
    [
        completion([]),
        completion(None),
        completion("none"),
        completion([{"index": 0, "finish_reason": "stop"}]),
        completion([{"index": 0, "message": {"role": "assistant", "content": None}}]),
        completion([{"index": 0, "message": {"role": "assistant", "content": ["a"]}}]),
        said("  \n "),
        Answer("{}"),
        Answer("[]"),
        Answer("null"),
        Answer("{ not json"),
        Answer("<h1>Bad gateway</h1>", content_type="text/html"),
        Answer('{"choices": [', cut=True),
    ],
)
def test_an_answer_without_an_answer_is_a_failure_that_may_pass(answer: Answer) -> None:
    with asking(answer, retries=0) as one:
        assert one.fails().retryable


def test_a_failing_server_is_left_in_peace_and_tried_again_later() -> None:
    with asking(refused(500), retries=0) as one:
        for _ in range(3):
            one.fails()
        assert isinstance(one.fails(), CircuitOpen)
        assert len(one.server.asked) == 3
        one.now = 31
        one.server.answers = [said("{}")]
        assert one.ask().text == "{}"
        assert one.ask().text == "{}"


def test_after_the_rest_only_one_question_is_tried() -> None:
    now = [0.0]
    breaker = CircuitBreaker(failures=1, rest=30, clock=lambda: now[0])
    breaker.note(failed=True)
    now[0] = 30
    breaker.check()
    with pytest.raises(CircuitOpen) as caught:
        breaker.check()
    assert caught.value.retryable


def test_refusals_dont_count_as_a_server_that_fails() -> None:
    with asking(refused(400), retries=0) as one:
        for _ in range(5):
            one.fails()
        assert len(one.server.asked) == 5


def test_a_stream_comes_piece_by_piece() -> None:
    with asking(streamed("Hel", "lo")) as one:
        assert pieces(one.model) == ["Hel", "lo"]
        assert one.server.asked[0]["stream"] is True


@pytest.mark.parametrize(
    "answer",
    [
        streamed("Hel", finished=False),
        Answer(streamed("Hel", finished=False).body, content_type="text/event-stream", cut=True),
        Answer("data: {broken\n\n", content_type="text/event-stream"),
    ],
)
def test_a_stream_that_stops_is_a_failure_that_may_pass(answer: Answer) -> None:
    with asking(answer) as one, pytest.raises(ProviderError) as caught:
        pieces(one.model)
    assert caught.value.retryable


def test_nothing_that_was_sent_stands_in_the_logs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    with asking(refused(500, message=SECRET), said(SECRET)) as one:
        one.ask()
    assert SECRET not in caplog.text
    talking = {record.name.partition(".")[0] for record in caplog.records}
    assert not talking & {"openai", "httpx2", "httpcore2"}
