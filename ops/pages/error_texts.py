"""Translate stored errors into the reader's language."""

from __future__ import annotations

import re

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from ops.selectors import Trouble

FORMATS = {
    "memory_center": gettext_lazy("Memory Center export"),
    "chatgpt": "ChatGPT",
    "mem0": "mem0",
    "markdown": "Markdown",
    "jsonl": gettext_lazy("JSON lines"),
    "memorybank": "MemoryBank",
    "locomo": "LoCoMo",
}
_BROKE = re.compile(r"It broke off \((?P<what>\w+)\)\.")
# Messages of readers are fixed except for a number or a name.
_SAID = (
    (
        re.compile(r"(?P<n>\d{1,12}) traces are left: (?P<where>.+)", re.DOTALL),
        gettext_noop("Some of what should be erased is left, in %(n)s places: %(where)s"),
    ),
    (
        re.compile(r"The model's server answered (?P<n>\d+)\."),
        gettext_noop("The model's server answered with the error %(n)s."),
    ),
    (
        re.compile(r"The model's server refused the call \((?P<n>\d+)\)\."),
        gettext_noop("The model's server refused the call (error %(n)s)."),
    ),
    (
        re.compile(r"The memories were embedded by (?P<which>.+), and the settings .+"),
        gettext_noop(
            "The memories were embedded by %(which)s, and the settings don't say where it is."
        ),
    ),
    (
        _BROKE,
        gettext_noop("It stopped unexpectedly (%(what)s)."),
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

_DATABASE = gettext_noop("The database could not be reached.")
_SERVER = gettext_noop("A server that it needs could not be reached.")
# Why an attempt failed, by the name of the exception.
_BROKE_OFF = {
    "OperationalError": _DATABASE,
    "InterfaceError": _DATABASE,
    "InternalError": gettext_noop("It took too long, so the database stopped it."),
    "ConnectionError": _SERVER,
    "ConnectionRefusedError": _SERVER,
    "ConnectionResetError": _SERVER,
    "TimeoutError": _SERVER,
    "PermissionError": gettext_noop("The server may not write to one of its folders."),
    "NotVacuumed": gettext_noop("The database did not clear what was erased from the disk."),
}
# Messages of the outbox and providers, listed here for translation.
AS_IT_IS = (
    gettext_noop("The same is waiting to be done already."),
    gettext_noop("The model did not answer in time."),
    gettext_noop("The model's server can't be reached."),
    gettext_noop("The model’s answer was cut off."),
    gettext_noop("The embedder was changed meanwhile. Try again."),
    gettext_noop("The embedder answered for other texts."),
    gettext_noop("The embedder's answer has no vectors."),
    gettext_noop("The embedder's vectors hold no numbers."),
)
_TROUBLES = {
    Trouble.OVERDUE: gettext_noop("It is due, but no worker has started it. Is a worker running?"),
    Trouble.STUCK: gettext_noop(
        "It is stuck. If its worker has stopped, another one will take over automatically."
    ),
}


def forgotten() -> str:
    """Return the message after a forget of anything but the account."""
    return _(
        "Forgotten. It’s no longer shown or used. "
        "Erasing every trace takes a moment. You’ll find the receipt under Data management."
    )


def said_of_trouble(trouble: Trouble) -> str:
    return _(_TROUBLES[trouble])


def said(error: str) -> str:
    found = _BROKE.fullmatch(error)
    if found and found["what"] in _BROKE_OFF:
        return _(_BROKE_OFF[found["what"]])
    for pattern, words in _SAID:
        if found := pattern.fullmatch(error):
            parts = found.groupdict()
            named = {name: str(FORMATS.get(value, _(value))) for name, value in parts.items()}
            return _(words) % named
    return _(error)
