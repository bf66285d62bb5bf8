"""Workflows: which tools, in which order, did what a person asked for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memcenter.lib import segment
from memories.screening import finding

FEWEST = 2  # successes of a workflow that is worth remembering
_LONGEST_REQUEST = 80
_MOST_STEPS, _MOST_NAMES = 12, 8
_NAME = re.compile(r"[\w.:/-]{1,64}")
_END = re.compile(r"(?<=[。！？!?])|(?<=\.)\s|\n")

Step = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Workflow:
    """The tools that one turn used, with the names of their arguments, and whether all went well.

    The values of arguments and what came out are never looked at.
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
        """The skill in the words of this turn, in its language."""
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
    """None where nothing can be learned: no tools, odd names, or a request with a secret."""
    steps = [_step(one) for one in tools[: _MOST_STEPS + 1]]
    asked = _asked(request)
    if not steps or None in steps or len(steps) > _MOST_STEPS or not asked:
        return None
    worked = all(one.get("ok", True) is not False for one in tools)
    return Workflow(turn, asked, tuple(step for step in steps if step), worked)


def failures_of(steps: Sequence[Step], others: Iterable[Workflow]) -> list[Workflow]:
    """Those that began in the same way and failed: a workflow breaks off where it fails."""
    names = [name for name, _ in steps]
    return [one for one in others if not one.worked and list(one.names) == names[: len(one.names)]]


def confidence(*, successes: int, failures: int) -> float:
    """Two successes 0.67, three 0.75; a failure weighs as two successes."""
    return round(successes / (successes + 2 * failures + 1), 2)


def _step(tool: Mapping[str, Any]) -> Step | None:
    name, given = tool.get("name"), tool.get("input")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    keys = sorted(str(key) for key in given) if isinstance(given, Mapping) else []
    return name, tuple(key for key in keys if _NAME.fullmatch(key))[:_MOST_NAMES]


def _asked(request: str) -> str:
    """The first sentence of the request, if it holds no secret."""
    if finding.find(request):
        return ""
    first = next((one.strip() for one in _END.split(request) if one and one.strip()), "")
    cut = first[:_LONGEST_REQUEST].rstrip(" .。!！?？")
    return f"{cut}…" if len(first) > _LONGEST_REQUEST else cut
