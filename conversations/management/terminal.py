"""Progress output of long commands."""

import unicodedata
from collections.abc import Sequence

from django.core.management.base import OutputWrapper

_LISTED = 20
_LABEL_COLUMNS = 20


class Terminal:
    """Prints lines, and one progress line that is overwritten on a terminal."""

    def __init__(self, stream: OutputWrapper) -> None:
        self._stream = stream
        self._is_watched = stream.isatty()
        self._is_open = False
        self._shown = ""

    def progress(self, label: str, done: int, total: int, *, worth_a_line: bool) -> None:
        """Show progress. A log (no terminal) only gets lines with `worth_a_line`."""
        text = f"{label}  {done} of {total}"
        if self._is_watched:
            filled = 20 * done // total if total else 20
            self._stream.write(f"\r\x1b[K[{'#' * filled:<20}] {text}", ending="")
            self._stream.flush()
            self._is_open = True
        elif worth_a_line and text != self._shown:
            self._stream.write(text)
            self._shown = text

    def say(self, text: str) -> None:
        if self._is_open:
            self._stream.write("")
        self._is_open = False
        self._stream.write(text)

    def row(self, label: str, value: str) -> None:
        self.say(f"  {label}{' ' * max(1, _LABEL_COLUMNS - _columns(label))}{value}")

    def listing(self, lines: Sequence[str]) -> None:
        for line in lines[:_LISTED]:
            self.say(f"    {line}")
        if len(lines) > _LISTED:
            self.say(f"    … {len(lines) - _LISTED} more")


def _columns(text: str) -> int:
    """Count terminal columns: a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
