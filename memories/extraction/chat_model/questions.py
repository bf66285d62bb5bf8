"""Ask a model one question and account for its cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from memcenter.lib.errors import ProviderError
from memcenter.lib.text import tokens
from memcenter.providers.base import Completion, CompletionModel, ModelUse, NotAsked
from memories.extraction.chat_model.answers import Kept, Unreadable
from memories.extraction.chat_model.prompts import Prompt

_Read = TypeVar("_Read")
_Part = TypeVar("_Part")


class Asker:
    """`account` is called once for each question sent, whatever its outcome."""

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
        """Return the answer parsed by `read`. Raises `ProviderError`, as `read` may."""
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
        asked, told = 0, 0  # where nothing was answered
        if answer is not None:
            asked = _tokens(answer.input_tokens, (one.content for one in prompt.messages))
            told = _tokens(answer.output_tokens, [answer.text])
        return ModelUse(
            step=prompt.step,
            provider=self._model.name,
            model=self._model.model,
            prompt_version=prompt.version,
            input_tokens=asked,
            output_tokens=told,
            took_ms=max(0, round((self._clock() - since) * 1000)),
            outcome=outcome,
        )


def pieces(
    parts: Sequence[_Part], *, cost: Callable[[_Part], int], most: int, shared: int = 0
) -> Iterator[list[_Part]]:
    """Group the parts into runs that cost at most `most` or hold a single part.

    Each run begins with the last `shared` parts of the run before it, which aren't counted again.
    """
    piece: list[_Part] = []
    spent = 0
    for part in parts:
        more = cost(part)
        if piece and spent + more > most:
            yield piece
            piece, spent = piece[len(piece) - shared :], 0
        piece.append(part)
        spent += more
    if piece:
        yield piece


def _tokens(counted: int | None, texts: Iterable[str]) -> int:
    """Return the server's token count, or our own."""
    return sum(map(tokens.count, texts)) if counted is None else counted
