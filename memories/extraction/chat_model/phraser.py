"""Shorten statements to phrases for the "About you" page with a chat model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

from foundation.providers.base import TooLong
from foundation.text import segment
from memories.extraction import masking
from memories.extraction.arbitration import pairs
from memories.extraction.arbitration.pairs import PairReader, Relation
from memories.extraction.chat_model import model_calls, prompts
from memories.extraction.chat_model.arbiter import is_grounded
from memories.extraction.chat_model.model_calls import Asker, UsableItems
from memories.extraction.pattern_tables import compiled, table

_MOST = 100  # maximum number of items read of an answer
_KEPT = 0.75  # share of a statement's words that its phrase must contain
_MARKUP = re.compile(r"[<>\[\]{}|*_#`~\\^]|&#?\w{1,8};|://|www\.")
_PEOPLE = table("own_words")
_NOT_LOST = compiled(
    "phrases",
    relatives="|".join(_PEOPLE["relations"].values()),
    cjk_relatives=_PEOPLE["cjk_relation"],
)


class ModelPhraser:
    """Shorten statements to phrases by asking a chat model."""

    name = "model"

    def __init__(self, asker: Asker, *, reader: PairReader) -> None:
        self._asker = asker
        self._reader = reader

    def word(self, statements: Sequence[str]) -> list[str]:
        """Return a short phrase, which may be empty, for each statement.

        The phrase is empty if the statement is long, or if the model's phrase is missing or fails a
        check. Raise `ProviderError` if the model call fails.
        """
        short = [
            statement for statement in dict.fromkeys(statements) if len(statement) <= pairs.LONGEST
        ]
        phrases = dict(zip(short, self._phrases_of(short) if short else (), strict=True))
        return [phrases.get(statement, "") for statement in statements]

    def _phrases_of(self, statements: Sequence[str]) -> list[str]:
        named = {f"m{number}": statement for number, statement in enumerate(statements, start=1)}
        shown = [
            {"id": name, "content": masking.masked_by_reading(statement)}
            for name, statement in named.items()
        ]
        prompt = prompts.phrasing(
            {"memories": shown}, ids=list(named), language=segment.language(" ".join(statements))
        )
        try:
            found = self._asker.ask(prompt, read=partial(self._read, named)).items
        except TooLong:
            if len(statements) == 1:
                return [""]
            half = len(statements) // 2
            return self._phrases_of(statements[:half]) + self._phrases_of(statements[half:])
        phrases = dict(found)
        return [phrases.get(name, "") for name in named]

    def _read(self, named: Mapping[str, str], answer: str) -> UsableItems[tuple[str, str]]:
        """Return the name and phrase of each item that passes all checks."""
        read = model_calls.items(
            answer, name="phrases", most=_MOST, shape={"id": str, "phrase": str}
        )
        proposed = [
            (item["id"].strip(), model_calls.clean_text(item["phrase"])) for item in read.items
        ]
        names = [name for name, _ in proposed]
        fit = [
            (name, phrase)
            for name, phrase in proposed
            if name in named and names.count(name) == 1 and _fits(phrase, named[name])
        ]
        related = pairs.read(self._reader, [(named[name], phrase) for name, phrase in fit])
        kept = [
            pair
            for pair, reading in zip(fit, related, strict=True)
            if reading.relation in (Relation.SAME, Relation.REFINES)
            or pairs.fold(pair[1]) == pairs.fold(named[pair[0]])
        ]
        return UsableItems(kept, read.dropped + len(proposed) - len(kept))


def _fits(phrase: str, statement: str) -> bool:
    """Return whether a phrase only shortens its statement, without losing a condition or a person.

    The caller also checks with the reader model that phrase and statement have the same meaning.
    """
    if len(phrase) > min(prompts.LONGEST_PHRASE, len(statement) + 1):
        return False
    if not set(_MARKUP.findall(phrase)) <= set(_MARKUP.findall(statement)):
        return False
    if masking.is_redacted(phrase) or masking.screen(phrase).refused:
        return False
    required = [pattern for pattern in _NOT_LOST.values() if pattern.search(statement)]
    return all(pattern.search(phrase) for pattern in required) and is_grounded(
        phrase, [statement], kept=_KEPT
    )
