"""Methods that use a chat model, and fall back to the bundled methods if the model fails."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Generic, TypeVar

from foundation.errors import ProviderError
from memories.extraction.arbitration.pairs import Consolidator, JoinedStatement
from memories.extraction.types import (
    Arbiter,
    Candidate,
    Decision,
    Extraction,
    Extractor,
    JointCandidate,
    JointReader,
    JointTurn,
    KnownMemory,
    Summarizer,
    TurnText,
)

logger = logging.getLogger(__name__)

_REASON = "bundled_stood_in"


_Method = TypeVar("_Method", Extractor, Arbiter, Summarizer, Consolidator, JointReader)
_Result = TypeVar("_Result")


class _StandIn(Generic[_Method]):
    """A method that uses a chat model and, on a `ProviderError`, calls the bundled method."""

    def __init__(self, model: _Method, *, bundled: _Method) -> None:
        self.name = model.name
        self._model: _Method = model
        self._bundled: _Method = bundled

    def _ask(self, call: Callable[[_Method], _Result]) -> tuple[_Result, bool]:
        """Return the result, and whether the bundled method produced it."""
        try:
            return call(self._model), False
        except ProviderError as error:
            logger.warning("The bundled method stands in for the model: %s", error)
        return call(self._bundled), True


class StandInExtractor(_StandIn[Extractor]):
    """An extractor with a fallback, which adds a reason code to the fallback's candidates."""

    def extract(self, turn: TurnText) -> Extraction:
        found, stood_in = self._ask(lambda method: method.extract(turn))
        if not stood_in:
            return found
        marked = [
            replace(candidate, reasons=(*candidate.reasons, _REASON))
            for candidate in found.candidates
        ]
        return replace(found, candidates=tuple(marked))


class StandInArbiter(_StandIn[Arbiter]):
    """An arbiter with a fallback, which adds a reason code to the fallback's decisions."""

    def arbitrate(
        self, candidate: Candidate, known: Sequence[KnownMemory], *, now: datetime
    ) -> Decision:
        found, stood_in = self._ask(lambda method: method.arbitrate(candidate, known, now=now))
        return replace(found, reasons=(*found.reasons, _REASON)) if stood_in else found


class StandInSummarizer(_StandIn[Summarizer]):
    def summarize(
        self, previous: str, messages: Sequence[tuple[str, str]], *, max_tokens: int
    ) -> str:
        return self._ask(
            lambda method: method.summarize(previous, messages, max_tokens=max_tokens)
        )[0]


class StandInConsolidator(_StandIn[Consolidator]):
    def consolidate(self, texts: Sequence[str]) -> list[JoinedStatement]:
        return self._ask(lambda method: method.consolidate(texts))[0]


class StandInJointReader(_StandIn[JointReader]):
    def read(self, turns: Sequence[JointTurn]) -> list[JointCandidate]:
        return self._ask(lambda method: method.read(turns))[0]
