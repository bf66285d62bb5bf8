"""The bundled methods stand in for a model that fails, where the settings say so."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memcenter.lib.errors import ProviderError
from memories.extraction.consolidate import Consolidator, Joined
from memories.extraction.joint.types import Gathered, Heard, JointReader
from memories.extraction.types import (
    Arbiter,
    Candidate,
    Decision,
    Extraction,
    Extractor,
    Known,
    Summarizer,
    TurnText,
)

logger = logging.getLogger(__name__)

_REASON = "bundled_stood_in"


class StandInExtractor:
    """Each candidate says that it is the stand-in's."""

    def __init__(self, model: Extractor, *, bundled: Extractor) -> None:
        self.name = model.name
        self._model = model
        self._bundled = bundled

    def extract(self, turn: TurnText) -> Extraction:
        try:
            return self._model.extract(turn)
        except ProviderError as error:
            _note(error)
        found = self._bundled.extract(turn)
        marked = [replace(one, reasons=(*one.reasons, _REASON)) for one in found.candidates]
        return replace(found, candidates=tuple(marked))


class StandInArbiter:
    """The decision says that it is the stand-in's."""

    def __init__(self, model: Arbiter, *, bundled: Arbiter) -> None:
        self.name = model.name
        self._model = model
        self._bundled = bundled

    def arbitrate(self, candidate: Candidate, known: Sequence[Known], *, now: datetime) -> Decision:
        try:
            return self._model.arbitrate(candidate, known, now=now)
        except ProviderError as error:
            _note(error)
        decision = self._bundled.arbitrate(candidate, known, now=now)
        return replace(decision, reasons=(*decision.reasons, _REASON))


class StandInSummarizer:
    def __init__(self, model: Summarizer, *, bundled: Summarizer) -> None:
        self.name = model.name
        self._model = model
        self._bundled = bundled

    def summarize(
        self, previous: str, messages: Sequence[tuple[str, str]], *, max_tokens: int
    ) -> str:
        try:
            return self._model.summarize(previous, messages, max_tokens=max_tokens)
        except ProviderError as error:
            _note(error)
        return self._bundled.summarize(previous, messages, max_tokens=max_tokens)


class StandInConsolidator:
    def __init__(self, model: Consolidator, *, bundled: Consolidator) -> None:
        self.name = model.name
        self._model = model
        self._bundled = bundled

    def consolidate(self, texts: Sequence[str]) -> list[Joined]:
        try:
            return self._model.consolidate(texts)
        except ProviderError as error:
            _note(error)
        return self._bundled.consolidate(texts)


class StandInJointReader:
    def __init__(self, model: JointReader, *, bundled: JointReader) -> None:
        self.name = model.name
        self._model = model
        self._bundled = bundled

    def read(self, turns: Sequence[Heard]) -> list[Gathered]:
        try:
            return self._model.read(turns)
        except ProviderError as error:
            _note(error)
        return self._bundled.read(turns)


def _note(error: ProviderError) -> None:
    logger.warning("The bundled method stands in for the model: %s", error)
