"""Recognise workflows: the tools, in order, that did what the user asked for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memcenter.lib.text import segment
from memories.screening import secret_search

FEWEST = 2  # successes of a workflow that is worth remembering
_LONGEST_REQUEST = 80
_MOST_STEPS, _MOST_NAMES = 12, 8
_NAME = re.compile(r"[\w.:/-]{1,64}")
_END = re.compile(r"(?<=[。！？!?])|(?<=\.)\s|\n")

Step = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Workflow:
    """The tools of one turn with their argument names, and whether all succeeded.

    Argument values and results are never read.
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
        """Return the skill in the words of this turn, in its language."""
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
    """Return None without tools, with invalid names, or if the request holds a secret."""
    steps = [_step(one) for one in tools[: _MOST_STEPS + 1]]
    asked = _asked(request)
    if not steps or None in steps or len(steps) > _MOST_STEPS or not asked:
        return None
    worked = all(one.get("ok", True) is not False for one in tools)
    return Workflow(turn, asked, tuple(step for step in steps if step), worked)


def failures_of(steps: Sequence[Step], others: Iterable[Workflow]) -> list[Workflow]:
    """Return the failed workflows that began in the same way; a workflow stops at a failure."""
    names = [name for name, _ in steps]
    return [one for one in others if not one.worked and list(one.names) == names[: len(one.names)]]


def confidence(*, successes: int, failures: int) -> float:
    """Return 0.67 for two successes, 0.75 for three; a failure weighs as much as two successes."""
    return round(successes / (successes + 2 * failures + 1), 2)


def _step(tool: Mapping[str, Any]) -> Step | None:
    name, given = tool.get("name"), tool.get("input")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    keys = sorted(str(key) for key in given) if isinstance(given, Mapping) else []
    return name, tuple(key for key in keys if _NAME.fullmatch(key))[:_MOST_NAMES]


def _asked(request: str) -> str:
    """Return the first sentence of the request, unless it holds a secret."""
    if secret_search.find(request):
        return ""
    first = next((one.strip() for one in _END.split(request) if one and one.strip()), "")
    cut = first[:_LONGEST_REQUEST].rstrip(" .。!！?？")
    return f"{cut}…" if len(first) > _LONGEST_REQUEST else cut
