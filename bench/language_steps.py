"""Runs the product's text processing steps on one text, in this process and without a database."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from zlib import crc32

from django.conf import settings

from conversations.block import control_tokens
from conversations.importing.formats import exports
from conversations.importing.formats import exports as memory_files
from foundation.text import richtext, segment, shingles
from memories import language_steps
from memories.extraction import masking
from memories.extraction.message_reading import habits
from memories.extraction.message_reading.habits import BundledJointReader
from memories.extraction.summary import ExtractiveSummarizer
from memories.extraction.types import Candidate, JointTurn, KnownMemory, TurnText, Utterance
from memories.extraction.wording import digest
from memories.files.grammar import parse
from memories.pages import explanation
from memories.reader.reading import PairScores, Reader
from memories.retrieval.query import analyse

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
_SHORT = 300  # characters kept of earlier messages, so that only one message is measured
_FEW = 6  # number of earlier texts and of known memories
# The steps on the normal path of one message.
WAY = frozenset(
    ["screen", "extract", "arbitrate", "read several together", "summarize", "consolidate"]
) | {"digest", "note", "skill", "words", "question"}
Step = Callable[[str], object]


def read_only_first_pairs(most: int) -> None:
    """Let the encoder read only the first `most` different pairs of texts of this process.

    Each later pair gets the scores of one of the first pairs, so every relation and every
    probability still occurs.
    """
    read = Reader._pair_scores
    known: dict[tuple[str, str], PairScores] = {}
    first_scores: list[PairScores] = []

    def scores(reader: Reader, first: str, second: str) -> PairScores:
        found = known.get((first, second))
        if found is None and len(first_scores) < most:
            found = known[first, second] = read(reader, first, second)
            first_scores.append(found)
        elif found is None:
            found = first_scores[crc32(f"{first}\0{second}".encode("utf-8", "replace")) % most]
        return found

    Reader._pair_scores = scores  # type: ignore[method-assign, assignment]


class LanguageSteps:
    """The text processing steps by name. Earlier texts serve as context and known memories."""

    def __init__(self) -> None:
        self._extractor = language_steps.bundled_extractor()
        self._arbiter = language_steps.bundled_arbiter()
        self._joint = BundledJointReader()
        self._said: deque[str] = deque(maxlen=_FEW)
        self._known: deque[str] = deque(maxlen=_FEW)
        self.candidates = 0
        self.steps: Mapping[str, Step] = {
            "screen": masking.screen,
            "extract": self._extract,
            "arbitrate": self._arbitrate,
            "read several together": self._read_together,
            "summarize": self._summarize,
            "consolidate": self._consolidate,
            "digest": digest.digest,
            "skill": self._skill,
            "words": segment.terms,
            "question": lambda text: analyse(text, speakers=("Will", "小美")),
            "memory file": parse,
            "block": control_tokens.neutralize_control_tokens,
            "page": richtext.as_html,
            "difference": self._difference,
            "residue": self._residue,
            "import": self._import,
        }

    def remember(self, text: str) -> None:
        """Use the text as context for later texts."""
        self._said.append(text)
        self._known.append(_as_memory(text))

    def _turn(self, text: str) -> TurnText:
        before = [*self._said]
        asked = before[-1] if before else ""
        return TurnText(
            Utterance(text, NOW),
            Utterance(asked, NOW),
            before=tuple(Utterance(earlier, NOW) for earlier in before),
            before_assistant=asked,
            known_block="\n".join(before),
        )

    def _extract(self, text: str) -> None:
        candidates = self._extractor.extract(self._turn(text)).candidates
        self.candidates += len(candidates)
        for candidate in candidates[:_FEW]:
            self._decide(candidate)
            self._known.append(candidate.content)

    def _arbitrate(self, text: str) -> None:
        """Arbitrate the text as `POST /memory/long_term` does, cut to the maximum length."""
        text = _as_memory(text)
        self._decide(Candidate("fact", text, 0.5, 0.9, text))
        self._decide(Candidate("task", text, 0.5, 0.3, text, explicit=True, corrects=True))

    def _decide(self, candidate: Candidate) -> None:
        known = [
            KnownMemory(f"mem_{at}", "fact", text, 0.9 - at / 10, said_at=NOW)
            for at, text in enumerate(self._known)
        ]
        self._arbiter.arbitrate(candidate, known, now=NOW)

    def _read_together(self, text: str) -> None:
        short = text[:_SHORT]
        texts = [*(one[:_SHORT] for one in self._said), short, short, text]
        self._joint.read([JointTurn(at, self._turn(one)) for at, one in enumerate(texts)])

    def _summarize(self, text: str) -> None:
        said = [("user", earlier) for earlier in self._said]
        ExtractiveSummarizer().summarize(
            text[:2_000], [*said, ("user", text), ("assistant", text)], max_tokens=300
        )

    def _consolidate(self, text: str) -> None:
        language_steps.consolidator().consolidate([*self._known, _as_memory(text)])

    def _skill(self, text: str) -> None:
        habits.workflow_of(1, request=text, tools=[{"name": "search", "input": {"q": 1}}])

    def _difference(self, text: str) -> None:
        explanation.diff_words(self._known[0] if self._known else "", _as_memory(text))

    def _residue(self, text: str) -> None:
        plain = shingles.normalise(text)
        shingles.shingles(plain, size=shingles.size_for(plain))

    def _import(self, text: str) -> None:
        lines = text.splitlines()
        exports.is_transcript(lines)
        list(exports.read_transcript(lines, now=NOW, report=lambda skipped: None))
        memory_files.is_memory_file(lines)
        list(memory_files.read_markdown(lines, report=lambda skipped: None))


def _as_memory(text: str) -> str:
    """Cut a text to the maximum length of a memory."""
    return text[: settings.MAX_MEMORY_CHARS]
