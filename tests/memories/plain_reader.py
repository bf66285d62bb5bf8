"""A reader of plain sentences, for tests of what follows once something was understood."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memories.reader import Reading
from memories.reader.statements import FLAGS
from tests.memories.extraction.readings import FakeReader, statement

_SENTENCE = re.compile(r"(?P<text>[^.!?。！？\n]+)(?P<end>[.!?。！？]?)")
_OF_THEMSELVES = re.compile(r"^(?:.*[,，:：])?\s*(?P<own>(?:(?:I|I'm|My)\s|我).*)")


@dataclass
class PlainReader(FakeReader):
    """What begins with "I", "My" or 我 is a statement, up to the end of its sentence.

    Questions are none, and of several such parts of a sentence it is the last. `hears` tells of
    other texts. No test with it depends on what the learned reader makes of a sentence: how well
    that one reads is measured by the scored sets.
    """

    def read(self, text: str, *, before: Sequence[str] = (), assistant: str = "") -> Reading:
        if text in self.readings:
            return self.readings[text]
        told = [
            one["text"].strip() for one in _SENTENCE.finditer(text) if one["end"] not in ("?", "？")
        ]
        own = [found["own"] for one in told if (found := _OF_THEMSELVES.match(one))]
        statements = tuple(statement(text, one, kind=_kind(one)) for one in own)
        return Reading(statements, (), dict.fromkeys(FLAGS, 0.0))


def _kind(sentence: str) -> str:
    return "constraint" if "allergic" in sentence or "过敏" in sentence else "fact"
