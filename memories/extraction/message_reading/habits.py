"""Find habits that several turns mention, and sequences of tool calls that succeeded."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foundation.text import segment
from memories.extraction import masking
from memories.extraction.pattern_tables import compiled, table
from memories.extraction.types import Candidate, JointCandidate, JointTurn
from memories.screening import secret_search

FEWEST = 3  # turns that must mention a habit
_IMPORTANCE, _CONFIDENCE = 0.4, 0.6
_DONE: dict[str, str] = table("habits")["done"]
_P = compiled("habits", verbs="|".join(_DONE))


class BundledJointReader:
    """Find habits: statements that several turns support, but that no single turn makes."""

    name = "bundled"

    def read(self, turns: Sequence[JointTurn]) -> list[JointCandidate]:
        block = masking.letters_and_digits(turns[0].text.known_block) if turns else ""
        return [
            gathered
            for gathered in habits(turns)
            if not masking.repeats(
                gathered.candidate.content, gathered.candidate.quote, known=block
            )
        ]


@dataclass(frozen=True)
class _Activity:
    key: frozenset[str]
    content: str
    quote: str
    start: int


def habits(turns: Sequence[JointTurn]) -> Iterator[JointCandidate]:
    """Yield a statement for each turn that mentions a habit.

    At least `FEWEST` turns must mention the habit, and one of these turns must be new. Otherwise,
    an earlier search has already found the habit.
    """
    by_key: dict[frozenset[str], dict[int, _Activity]] = defaultdict(dict)
    for heard in turns:
        for doing in _activities(heard):
            by_key[doing.key].setdefault(heard.turn, doing)
    new = {heard.turn for heard in turns if heard.is_new}
    for by_turn in by_key.values():
        if len(by_turn) >= FEWEST and new & by_turn.keys():
            first = next(iter(by_turn.values()))
            yield from (
                JointCandidate(_candidate(first.content, doing), turn)
                for turn, doing in by_turn.items()
            )


def _activities(heard: JointTurn) -> Iterator[_Activity]:
    said = heard.text.user.text
    covered = masking.cover_foreign(masking.cover_secrets(said))
    own = _P["speech"].sub(lambda quoted: masking.COVER * len(quoted[0]), covered)
    for match in _P["en"].finditer(own):
        rest = " ".join(_P["joins"].sub("", _P["at_times"].sub("", match["rest"])).split())
        yield from _activity(f"Often {_DONE[match['verb']]} {rest}".strip(), match, own)
    for match in _P["zh"].finditer(own):
        what = _P["done_in_zh"].sub("", match["what"]).strip()
        yield from _activity(f"经常{what}", match, own)


def _activity(content: str, match: re.Match[str], own: str) -> Iterator[_Activity]:
    sentence = own[match.start() : match.end()]
    covered = masking.COVER in sentence or masking.SECRET in sentence
    says = frozenset(segment.terms(content)) - {"often", "经常"}
    if says and not covered and not _P["pronoun"].search(content):
        lead = len(sentence) - len(sentence.lstrip())
        yield _Activity(says, content, sentence.strip(), match.start() + lead)


def _candidate(content: str, doing: _Activity) -> Candidate:
    return Candidate(
        kind="pattern",
        content=content,
        importance=_IMPORTANCE,
        confidence=_CONFIDENCE,
        quote=doing.quote,
        quote_start=doing.start,
        reasons=("repeated",),
    )


FEWEST_SUCCESSES = 2  # a workflow with fewer successes isn't remembered
_LONGEST_REQUEST = 80
_MOST_STEPS, _MOST_NAMES = 12, 8
_NAME = re.compile(r"[\w.:/-]{1,64}")
_END = re.compile(r"(?<=[。！？!?])|(?<=\.)\s|\n")

Step = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Workflow:
    """The tools that a turn called, with their argument names; `worked` is True if all succeeded.

    It contains neither the values of the arguments nor the results.
    """

    turn: int
    request: str
    steps: tuple[Step, ...]
    worked: bool

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.steps)

    @property
    def statement(self) -> str:
        """Return the workflow as a sentence to remember, in the language of the request."""
        if segment.language(self.request) == "zh":
            steps = " → ".join(
                f"{name}（{'、'.join(keys)}）" if keys else name for name, keys in self.steps
            )
            return f"遇到“{self.request}”这类请求时，可行的步骤：{steps}"
        steps = ", then ".join(
            f"{name} ({', '.join(keys)})" if keys else name for name, keys in self.steps
        )
        return f"For requests like “{self.request}”, this worked: {steps}"


def workflow_of(turn: int, *, request: str, tools: Sequence[Mapping[str, Any]]) -> Workflow | None:
    """Return the workflow of a turn, or None if it can't be remembered.

    Return None if the turn called no tools or more than `_MOST_STEPS`, if a tool has an invalid
    name, or if the request is empty or contains a secret.
    """
    steps = [_step(tool) for tool in tools[: _MOST_STEPS + 1]]
    short = _short_request(request)
    if not steps or None in steps or len(steps) > _MOST_STEPS or not short:
        return None
    worked = all(tool.get("ok", True) is not False for tool in tools)
    return Workflow(turn, short, tuple(step for step in steps if step), worked)


def failures_of(steps: Sequence[Step], others: Iterable[Workflow]) -> list[Workflow]:
    """Return the failed workflows in `others` that called the same tools as `steps`.

    A workflow that called only the first few of these tools is returned too, since a failed
    workflow may end with the step that failed.
    """
    names = [name for name, _ in steps]
    return [
        workflow
        for workflow in others
        if not workflow.worked and list(workflow.names) == names[: len(workflow.names)]
    ]


def workflow_confidence(*, successes: int, failures: int) -> float:
    """Return the confidence in a workflow; a failure weighs as much as two successes.

    Without failures, the confidence is 0.67 after two successes and 0.75 after three.
    """
    return round(successes / (successes + 2 * failures + 1), 2)


def _step(tool: Mapping[str, Any]) -> Step | None:
    name, arguments = tool.get("name"), tool.get("input")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    keys = sorted(str(key) for key in arguments) if isinstance(arguments, Mapping) else []
    return name, tuple(key for key in keys if _NAME.fullmatch(key))[:_MOST_NAMES]


def _short_request(request: str) -> str:
    """Return the first sentence of the request, shortened to `_LONGEST_REQUEST` characters.

    Return an empty string if the request contains a secret.
    """
    if secret_search.find(request):
        return ""
    first = next(
        (sentence.strip() for sentence in _END.split(request) if sentence and sentence.strip()), ""
    )
    cut = first[:_LONGEST_REQUEST].rstrip(" .。!！?？")
    return f"{cut}…" if len(first) > _LONGEST_REQUEST else cut
