"""Asking a model one question: what it took is told to whoever keeps the accounts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from memcenter.lib import tokens
from memcenter.lib.errors import ProviderError
from memcenter.providers.base import Completion, CompletionModel, ModelUse, NotAsked
from memories.extraction.answers import Kept, Unreadable
from memories.extraction.prompts import Prompt

_Read = TypeVar("_Read")


class Asker:
    """`account` is called once for each question that was sent, however it ended."""

    def __init__(
        self,
        model: CompletionModel,
        *,
        account: Callable[[ModelUse], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._account = account
        self._clock = clock

    def ask(self, prompt: Prompt, *, read: Callable[[str], _Read]) -> _Read:
        """What `read` makes of the answer. Raises `ProviderError`, as `read` may."""
        started = self._clock()
        try:
            answer = self._model.complete(
                prompt.messages, schema=prompt.schema, max_tokens=prompt.max_tokens
            )
        except NotAsked:
            raise
        except ProviderError:
            self._account(self._use(prompt, None, outcome="failed", since=started))
            raise
        try:
            found = read(answer.text)
        except Unreadable:
            self._account(self._use(prompt, answer, outcome="unreadable", since=started))
            raise
        outcome = "truncated" if answer.truncated else "ok"
        dropped = found.dropped if isinstance(found, Kept) else 0
        use = self._use(prompt, answer, outcome=outcome, since=started)
        self._account(replace(use, dropped=dropped))
        return found

    def _use(
        self, prompt: Prompt, answer: Completion | None, *, outcome: str, since: float
    ) -> ModelUse:
        return ModelUse(
            step=prompt.step,
            provider=self._model.name,
            model=self._model.model,
            prompt_version=prompt.version,
            input_tokens=_input_tokens(prompt, answer),
            output_tokens=_output_tokens(answer),
            took_ms=max(0, round((self._clock() - since) * 1000)),
            outcome=outcome,
        )


def _input_tokens(prompt: Prompt, answer: Completion | None) -> int:
    """What the server counted, else our own count; nothing where nothing was answered."""
    if answer is None:
        return 0
    if answer.input_tokens is not None:
        return answer.input_tokens
    return sum(tokens.count(message.content) for message in prompt.messages)


def _output_tokens(answer: Completion | None) -> int:
    if answer is None:
        return 0
    return tokens.count(answer.text) if answer.output_tokens is None else answer.output_tokens
