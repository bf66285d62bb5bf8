"""What was written down as an error, in the reader's language."""

from __future__ import annotations

import re

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

FORMATS = {
    "memory_center": gettext_lazy("Memory Center export"),
    "chatgpt": "ChatGPT",
    "mem0": "mem0",
    "markdown": "Markdown",
    "jsonl": gettext_lazy("JSON lines"),
    "memorybank": "MemoryBank",
    "locomo": "LoCoMo",
}
# What readers say is fixed, but for a number or a name.
_SAID = (
    (
        re.compile(r"It broke off \((?P<what>\w+)\)\."),
        gettext_noop("It broke off unexpectedly (%(what)s)."),
    ),
    (
        re.compile(r"The file is not valid JSON: line (?P<n>\d+) can't be read\."),
        gettext_noop("The file is not valid JSON: line %(n)s can't be read."),
    ),
    (
        re.compile(r"The file is not in UTF-8: line (?P<n>\d+) can't be read\."),
        gettext_noop("The file is not in UTF-8: line %(n)s can't be read."),
    ),
    (
        re.compile(r"The zip is not opened: (?P<why>.+)\."),
        gettext_noop("The zip is not opened: %(why)s."),
    ),
    (
        re.compile(r"A file to import has at most (?P<n>[\d,]+) MB\."),
        gettext_noop("A file to import has at most %(n)s MB."),
    ),
    (
        re.compile(r"The file is (?P<found>\w+), not (?P<named>\w+)\."),
        gettext_noop("The file is %(found)s, not %(named)s."),
    ),
)

# What the outbox itself writes down; here so that it is translated.
OUTBOX = (gettext_noop("The worker stopped in the middle."),)


def said(error: str) -> str:
    for pattern, words in _SAID:
        if found := pattern.fullmatch(error):
            parts = found.groupdict()
            named = {name: str(FORMATS.get(value, _(value))) for name, value in parts.items()}
            return _(words) % named
    return _(error)
