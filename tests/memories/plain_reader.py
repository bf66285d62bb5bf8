"""A reader of plain sentences, for tests of what follows once something was understood."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memories.reader import Reading
from memories.reader.labels import FLAGS
from tests.memories.extraction.readings import FakeReader, statement

_SENTENCE = re.compile(r"[^.!?。！？\n]+")
_OF_THEMSELVES = re.compile(r"(?:I|I'm|My)\s|我")


@dataclass
class PlainReader(FakeReader):
    """Each sentence that begins with "I", "My" or 我 is a statement; `hears` tells of others.

    No test with it depends on what the learned reader makes of a sentence. How well that one reads
    is measured by the scored sets.
    """

    def read(self, text: str, *, before: Sequence[str] = (), assistant: str = "") -> Reading:
        if text in self.readings:
            return self.readings[text]
        sentences = [found[0].strip() for found in _SENTENCE.finditer(text)]
        own = [one for one in sentences if _OF_THEMSELVES.match(one)]
        return Reading(tuple(statement(text, one) for one in own), (), dict.fromkeys(FLAGS, 0.0))
