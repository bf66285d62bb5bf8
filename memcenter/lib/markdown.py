"""What somebody wrote, as a part of a Markdown page: it must not become the page's own marks."""

from __future__ import annotations

import re

_UNSAFE = re.compile(r"[^\w\- .,()（）]+")


def quoted(text: str) -> str:
    """The text as a quotation, whatever marks it holds."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines() or [""])


def one_line(text: str) -> str:
    return " ".join(text.split())


def file_name(text: str, *, fallback: str) -> str:
    """A name for a file that every system takes; letters of any script stay."""
    kept = _UNSAFE.sub(" ", one_line(text)).strip(" .")
    return one_line(kept)[:60].strip(" .") or fallback
