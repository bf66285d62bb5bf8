"""Every pattern of ours reads the worst texts for it. Prints those that take too long, as JSON.

A program of its own, which `test_linear_patterns.py` starts: a pattern that takes exponential time
may only end with its process.
"""

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from types import FrameType

import django

from bench.patterns import GENERIC, Hostile, Named, hostile, of_project
from memories.extraction.corrections import self_repairs
from memories.extraction.requests import commands

MESSAGE = 32_000  # characters
# The patterns whose callers cut what they read, and the constant that says where. Every other
# pattern may meet a whole message. `docs/extraction.md` tells the bounds.
BOUNDS = {
    **{
        f"memories.extraction.requests.commands:_P['{name}']": commands._LONGEST
        for name in (
            *("remember_en", "remember_zh", "remind", "forget_en", "brief_en"),
            *("zh_you_forget", "zh_never_said"),
            "zh_tail",  # is a part of others and meets nothing by itself
        )
    },
    "memories.extraction.requests.commands:asked_in_chinese": commands._LONGEST,  # `what`
    "memories.extraction.requests.commands:_P['zh_brief']": commands._BRIEF_SIGNS,
    "memories.extraction.corrections.self_repairs:_LAST_CLAUSE": self_repairs.NEAR,
    "memories.extraction.message_reading.habits:_P['at_times']": 60,  # `rest` of `en`
    "memories.extraction.message_reading.habits:_P['done_in_zh']": 16,  # `what` of `zh`
}
_SHORT = 40  # characters; what takes exponential time shows it here
_MOST = 12  # texts made from one pattern
_SLOWEST = 2  # texts that are tried in full length, of those that take longest when shorter
_SECONDS = 1.0  # of the processor for one text; linear patterns take a hundredth


class TooLongError(Exception):
    pass


def length_for(one: Named) -> int:
    return BOUNDS.get(one.name, MESSAGE)


def spent(one: Named, text: str) -> float:
    """Processor seconds. `re` looks for signals while it searches, so that an alarm ends it."""
    began = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
        try:
            for _ in one.pattern.finditer(text):
                pass
            one.pattern.fullmatch(text)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        return time.process_time() - began
    except TooLongError:  # the alarm may also come while it is switched off
        return _SECONDS


def slow_text(one: Named) -> Hostile | None:
    """The text that `one` takes too long for."""
    texts = hostile(one.pattern, most=_MOST)
    texts += [Hostile("", unit, "\0") for unit in GENERIC]
    for length in (_SHORT, min(1_000, length_for(one)), length_for(one)):
        times = [(spent(one, text.of_length(length)), at) for at, text in enumerate(texts)]
        took, slowest = max(times)
        if took >= _SECONDS:
            return texts[slowest]
        texts = [texts[at] for _, at in sorted(times, reverse=True)[: _keep(length)]]
    return None


def _keep(length: int) -> int:
    return 100 if length == _SHORT else _SLOWEST


def _alarm(number: int, frame: FrameType | None) -> None:
    raise TooLongError


def slow(patterns: Sequence[Named]) -> dict[str, str]:
    signal.signal(signal.SIGVTALRM, _alarm)
    found = {one: slow_text(one) for one in patterns}
    return {
        f"{one.name} {one.pattern.pattern[:80]}": repr(text) for one, text in found.items() if text
    }


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (300, 300))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
    django.setup()
    known, unseen = of_project()
    told = {"slow": slow(known), "patterns": [one.name for one in known], "unseen": unseen}
    json.dump(told, sys.stdout)
