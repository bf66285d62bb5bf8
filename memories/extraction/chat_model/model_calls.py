"""Ask a chat model one question, record its cost, and parse its answer defensively."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from foundation.errors import ProviderError
from foundation.providers.base import CircuitOpen, Completion, CompletionModel, ModelUse
from foundation.text import tokens
from memories.extraction.chat_model.prompts import Prompt

_Read = TypeVar("_Read")
_Part = TypeVar("_Part")


class Asker:
    """Ask a chat model; `account` is called once for each question sent, even if it fails."""

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
        """Return the model's answer, parsed by `read`.

        Raise `ProviderError` if the model call fails. Exceptions raised by `read` are passed on.
        """
        started = self._clock()
        try:
            answer = self._model.complete(
                prompt.messages, schema=prompt.schema, max_tokens=prompt.max_tokens
            )
        except CircuitOpen:
            raise
        except ProviderError:
            self._account(self._use(prompt, None, outcome="failed", since=started))
            raise
        try:
            found = read(answer.text)
        except UnreadableAnswer:
            self._account(self._use(prompt, answer, outcome="unreadable", since=started))
            raise
        outcome = "truncated" if answer.truncated else "ok"
        dropped = found.dropped if isinstance(found, UsableItems) else 0
        use = self._use(prompt, answer, outcome=outcome, since=started)
        self._account(replace(use, dropped=dropped))
        return found

    def _use(
        self, prompt: Prompt, answer: Completion | None, *, outcome: str, since: float
    ) -> ModelUse:
        input_tokens, output_tokens = 0, 0  # if there is no answer
        if answer is not None:
            input_tokens = _tokens(
                answer.input_tokens, (message.content for message in prompt.messages)
            )
            output_tokens = _tokens(answer.output_tokens, [answer.text])
        return ModelUse(
            step=prompt.step,
            provider=self._model.name,
            model=self._model.model,
            prompt_version=prompt.version,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            took_ms=max(0, round((self._clock() - since) * 1000)),
            outcome=outcome,
        )


def pieces(
    parts: Sequence[_Part], *, cost: Callable[[_Part], int], most: int, shared: int = 0
) -> Iterator[list[_Part]]:
    """Group the parts into runs that each cost at most `most`; a single part may cost more.

    Each run but the first begins with the last `shared` parts of the previous run; their cost
    isn't counted again.
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
    """Return the token count that the server reported, or our own count if it reported none."""
    return sum(map(tokens.count, texts)) if counted is None else counted


_Item = TypeVar("_Item")
_DECODER = json.JSONDecoder()
_STARTS = 100  # maximum number of opening braces at which a JSON object is looked for
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ue000-\ue00f]")
_SPACE = re.compile(r"\s+")


class UnreadableAnswer(ProviderError):
    """Raised if an answer doesn't contain the requested JSON; asking again may help."""

    uses_up = True

    def __init__(self) -> None:
        super().__init__("The model's answer could not be read.", retryable=True)


@dataclass(frozen=True)
class UsableItems(Generic[_Item]):
    """The usable items of an answer, and the number of unusable ones."""

    items: Sequence[_Item]
    dropped: int = 0


def items(
    answer: str, *, name: str, most: int, shape: Mapping[str, type]
) -> UsableItems[dict[str, Any]]:
    """Return the first `most` objects in the list `name` that have the field types in `shape`.

    If the list is truncated, its complete objects are returned. Raise `UnreadableAnswer` if there
    is no list, or if the list has items but none of them can be used, since only an empty list
    means that the model found nothing.
    """
    found = _list_of(answer, name, most=most)
    kept = [
        item
        for item in found
        if isinstance(item, dict)
        and all(isinstance(item.get(field), kind) for field, kind in shape.items())
    ]
    if found and not kept:
        raise UnreadableAnswer
    return UsableItems(kept[:most], dropped=len(found) - len(kept))


def _list_of(answer: str, name: str, *, most: int) -> list[Any]:
    found = _object_with(answer, name)
    if found is not None and isinstance(found[name], list):
        return list(found[name])
    opened = re.search(rf'"{name}"\s*:\s*\[|\A\s*(?:```\w*\s*)?\[', answer)
    whole = list(_whole_objects(answer, opened.end(), most=most)) if opened else []
    if not whole and not (opened and answer[opened.end() :].lstrip().startswith("]")):
        raise UnreadableAnswer
    return whole


def fields(answer: str, *, name: str) -> dict[str, Any]:
    """Return the first JSON object in the answer that contains the key `name`.

    Raise `UnreadableAnswer` if there is no such object.
    """
    found = _object_with(answer, name)
    if found is None:
        raise UnreadableAnswer
    return found


def text_of(answer: str, *, name: str) -> str:
    """Return the text under the key `name`, or its beginning if the answer is truncated.

    Raise `UnreadableAnswer` if the answer doesn't contain this key.
    """
    found = _object_with(answer, name)
    if found is not None:
        return clean_text(found[name])
    opened = re.search(rf'"{name}"\s*:\s*"((?:[^"\\]|\\.)*)', answer, re.DOTALL)
    if not opened:
        raise UnreadableAnswer
    try:
        return clean_text(json.loads(f'"{opened[1]}"', strict=False))
    except ValueError:
        raise UnreadableAnswer from None


def share(value: object, *, default: float) -> float:
    """Convert any value to a number from 0 to 1; return `default` if it isn't a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return default
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return default if not isinstance(value, int) else float(value > 0)
    return default if math.isnan(number) else min(1.0, max(0.0, number))


def clean_text(value: object) -> str:
    """Return the text on one line, without characters that a database may reject.

    Return an empty string for any other type of value.
    """
    if not isinstance(value, str):
        return ""
    return _SPACE.sub(" ", _CONTROL.sub("", value)).strip()


def one_of(value: object, *, among: tuple[str, ...], default: str) -> str:
    """Return the option in `among` that equals `value`, or `default` if there is none.

    Case is ignored, and spaces within `value` count as underscores.
    """
    if not isinstance(value, str):
        return default
    meant = value.strip().replace(" ", "_").casefold()
    return next((option for option in among if option.casefold() == meant), default)


def words(value: object, *, most: int, longest: int) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    texts = dict.fromkeys(clean_text(text) for text in value[: 4 * most])
    return tuple(text for text in texts if text and len(text) <= longest)[:most]


def _object_with(answer: str, name: str) -> dict[str, Any] | None:
    """Return the first complete JSON object that contains the key `name`, or None."""
    start = -1
    for _ in range(_STARTS):
        start = answer.find("{", start + 1)
        if start < 0:
            break
        try:
            found, _end = _DECODER.raw_decode(answer, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and name in found:
            return found
    return None


def _whole_objects(answer: str, start: int, *, most: int) -> Iterator[dict[str, Any]]:
    for _ in range(most):
        start = answer.find("{", start)
        if start < 0:
            return
        try:
            found, start = _DECODER.raw_decode(answer, start)
        except (ValueError, RecursionError):
            return
        if isinstance(found, dict):
            yield found
