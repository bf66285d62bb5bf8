"""Chat models of any server with OpenAI's API, called through the package `openai`.

A circuit breaker stops calls to a failing server for a while. Every failure is raised as a
`ProviderError` with a message of our own, since the server's message may repeat the input.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from foundation import telemetry
from foundation.errors import ProviderError
from foundation.providers.base import ChatMessage, CircuitOpen, Completion, TooLong

if TYPE_CHECKING:
    import openai


class CircuitBreaker:
    """Stops calls for `rest` seconds after `failures` failures in a row.

    After the pause, a single trial call is let through. If the trial succeeds, all calls are let
    through again; if it fails, the next pause begins. Each process has its own state.
    """

    def __init__(
        self,
        *,
        failures: int = 5,
        rest: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = failures
        self._rest = rest
        self._clock = clock
        self._lock = threading.Lock()
        self._failed = 0
        self._paused_until = 0.0

    def check(self) -> None:
        """Raise `CircuitOpen` if the circuit breaker currently stops calls."""
        with self._lock:
            if self._failed < self._most:
                return
            now = self._clock()
            if now < self._paused_until:
                raise CircuitOpen
            # This call is the trial. Other callers get `CircuitOpen` until it has succeeded.
            self._paused_until = now + self._rest

    def note(self, *, failed: bool) -> None:
        with self._lock:
            self._failed = self._failed + 1 if failed else 0
            self._paused_until = self._clock() + self._rest


_Answer = TypeVar("_Answer")
_LONGEST_WAIT = 8.0  # seconds; for longer waits the whole operation is retried
_OVERFLOW = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
_OVERFLOW_WORDS = ("context length", "context size", "context window", "maximum context")
# Options that some servers don't support; once refused, they are never sent again.
_OPTIONAL = ("response_format", "temperature", "max_tokens", "dimensions")


@dataclass(frozen=True)
class Endpoint:
    """The settings for calling a model server. A local server needs no API key."""

    base_url: str
    model: str
    api_key: str = ""
    timeout: float = 60.0
    retries: int = 2


class _Failed(Exception):
    """A failed call.

    `again` says whether to retry the call, and `wait` is the delay in seconds that the server asks
    for. `unknown` names the option that the server doesn't support, or is empty.
    """

    def __init__(
        self,
        error: ProviderError,
        *,
        again: bool = False,
        wait: float | None = None,
        unknown: str = "",
    ) -> None:
        super().__init__(str(error))
        self.error, self.again, self.wait, self.unknown = error, again, wait, unknown


class OpenAICompatibleModel:
    """Calls a model with a time-out, and retries a few times with growing delays.

    If temporary failures last for more than a few seconds, the call raises a retryable error, so
    that the whole operation is retried later. This class doesn't retry a call after a time-out.
    """

    name = "openai_compatible"

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        breaker: CircuitBreaker | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.model = endpoint.model
        self._endpoint = endpoint
        self._breaker = breaker or CircuitBreaker()
        self._sleep = sleep
        self._left_out: set[str] = set()

    def complete(
        self, messages: Sequence[ChatMessage], *, schema: Mapping[str, Any], max_tokens: int
    ) -> Completion:
        options = {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": schema},
            },
            "temperature": 0,
            "max_tokens": max_tokens,
        }
        return self._persistently(lambda: self._once(messages, options))

    def reply(self, messages: Sequence[ChatMessage]) -> Iterator[str]:
        """Yield the answer piece by piece.

        Raise `ProviderError` if the call fails or the stream stops before its end.
        """
        stream = self._persistently(lambda: self._create(messages, {"stream": True}))
        with stream, _raising_provider_errors():
            ended = False
            for chunk in stream:
                for choice in getattr(chunk, "choices", None) or ():
                    ended = ended or bool(choice.finish_reason)
                    if piece := getattr(choice.delta, "content", None):
                        yield piece
            if not ended:
                raise _retryable("The model’s answer stopped in the middle.")

    def ask(self, call: Callable[[openai.OpenAI, Collection[str]], _Answer]) -> _Answer:
        """Make a call to the server other than a chat completion, with the same retries.

        The arguments of `call` are the client, and the names of the options that the server doesn't
        support. Raise `ProviderError` if the call doesn't succeed.
        """

        def once() -> _Answer:
            with _converting_errors():
                return call(self._client, self._left_out)

        return self._persistently(once)

    def close(self) -> None:
        self._client.close()

    def _persistently(self, call: Callable[[], _Answer]) -> _Answer:
        """Make the call, and retry it after temporary failures.

        Raise `ProviderError` if the call doesn't succeed, or `CircuitOpen` if the circuit breaker
        stops the call.
        """
        with telemetry.span("model call", {"gen_ai.request.model": self.model}):
            self._breaker.check()
            return self._retried(call)

    def _retried(self, call: Callable[[], _Answer]) -> _Answer:
        tries = 0
        while True:
            try:
                answer = call()
            except _Failed as failed:
                if failed.unknown and failed.unknown not in self._left_out:
                    # Call again at once, without the option that the server doesn't support.
                    self._left_out.add(failed.unknown)
                    continue
                wait = _wait(failed, tries=tries)
                if wait is None or tries >= self._endpoint.retries:
                    self._breaker.note(failed=failed.error.retryable)
                    raise failed.error from None
                tries += 1
                self._sleep(wait)
            else:
                self._breaker.note(failed=False)
                return answer

    def _once(self, messages: Sequence[ChatMessage], options: Mapping[str, Any]) -> Completion:
        known = {name: value for name, value in options.items() if name not in self._left_out}
        if "max_tokens" in self._left_out:  # the newer name of the option
            known["max_completion_tokens"] = options["max_tokens"]
        answer = self._create(messages, known)
        choices = getattr(answer, "choices", None)
        first = choices[0] if isinstance(choices, list) and choices else None
        text = getattr(getattr(first, "message", None), "content", None)
        if not isinstance(text, str) or not text.strip():
            raise _Failed(_retryable("The model answered nothing."))
        usage = getattr(answer, "usage", None)
        return Completion(
            text=text,
            truncated=getattr(first, "finish_reason", None) == "length",
            input_tokens=_tokens(usage, "prompt_tokens"),
            output_tokens=_tokens(usage, "completion_tokens"),
        )

    def _create(self, messages: Sequence[ChatMessage], options: Mapping[str, Any]) -> Any:
        create: Callable[..., Any] = self._client.chat.completions.create
        with _converting_errors():
            return create(
                model=self.model,
                messages=[
                    {"role": message.role, "content": message.content} for message in messages
                ],
                **options,
            )

    @cached_property
    def _client(self) -> openai.OpenAI:
        import openai  # on first use only, since it takes more than a second

        # Some versions log the whole request; its text must not reach a log.
        for name in ("openai", "httpx2", "httpcore2"):
            logging.getLogger(name).setLevel(logging.WARNING)
        return openai.OpenAI(
            base_url=self._endpoint.base_url,
            api_key=self._endpoint.api_key or "none",
            timeout=self._endpoint.timeout,
            max_retries=0,
            # A redirect would send people's text elsewhere.
            http_client=openai.DefaultHttpxClient(
                event_hooks={"request": [_add_headers]}, follow_redirects=False
            ),
        )


def _add_headers(request: Any) -> None:
    """Add the current request id to the headers of a call, since many requests share the client."""
    request.headers.update(telemetry.outgoing_headers())


def _wait(failure: _Failed, *, tries: int) -> float | None:
    if not failure.again:
        return None
    wait = 0.5 * 2**tries if failure.wait is None else failure.wait
    return wait if wait <= _LONGEST_WAIT else None


def _tokens(usage: object, name: str) -> int | None:
    count = getattr(usage, name, None)
    return count if isinstance(count, int) and 0 <= count < 2**31 else None


@contextmanager
def _raising_provider_errors() -> Iterator[None]:
    try:
        with _converting_errors():
            yield
    except _Failed as failed:
        raise failed.error from None


@contextmanager
def _converting_errors() -> Iterator[None]:
    import httpx2
    import openai

    try:
        yield
    except openai.APITimeoutError:
        raise _Failed(_retryable("The model did not answer in time.")) from None
    except openai.APIConnectionError:
        gone = _retryable("The model’s server can’t be reached.")
        raise _Failed(gone, again=True) from None
    except openai.APIStatusError as error:
        raise _failure_of_status(error) from None
    except (openai.OpenAIError, httpx2.HTTPError, ValueError):
        raise _Failed(_retryable("The model’s answer was cut off.")) from None


def _failure_of_status(error: openai.APIStatusError) -> _Failed:
    status = error.status_code
    if status in (408, 409, 425, 429) or (status >= 500 and status != 501):
        failed = _retryable(f"The model’s server answered {status}.")
        return _Failed(failed, again=True, wait=_asked_to_wait(error))
    codes = {error.code, error.type}
    words = str(error.message).lower()
    if (
        error.status_code == 413
        or bool(codes & _OVERFLOW)
        or (error.status_code == 400 and any(phrase in words for phrase in _OVERFLOW_WORDS))
    ):
        return _Failed(TooLong())
    refused = ProviderError(f"The model’s server refused the call ({status}).", retryable=False)
    return _Failed(refused, unknown=_unknown(error) if status in (400, 422) else "")


def _unknown(error: openai.APIStatusError) -> str:
    reason = error.param or str(error.message)
    return next((name for name in _OPTIONAL if name in reason), "")


def _asked_to_wait(error: openai.APIStatusError) -> float | None:
    try:
        return max(0.0, float(error.response.headers.get("retry-after", "")))
    except ValueError:  # absent, or a date
        return None


def _retryable(message: str) -> ProviderError:
    return ProviderError(message, retryable=True)
