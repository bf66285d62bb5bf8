r"""The grammar of a memory file's lines, and the encoding of content on a line.

`## <kind>` opens a section; another heading of the first or second level ends it. `- <content>
<!-- mem_… -->` is a memory; inside a section, `- <content>` is a new one. Anything else is free
text. Every line is parsed alone: no unclosed mark can swallow the lines after it.

Content is written verbatim, except for sequences that would break the line or hide its end: a
newline is `\n`, another character at which editors break lines is `\u2028` and the like, `<!--` is
`\<!--`. Backslashes are doubled only directly before a sequence that would otherwise be read as one
of these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "preference": "偏好",
        "fact": "事实",
        "constraint": "约束",
        "task": "任务",
        "pattern": "习惯",
        "skill": "技能",
        "event": "事件",
        "requirement": "需求",
        "plan": "计划",
        "development": "开发",
        "testing": "测试",
        "insight": "心得",
    }
)
"""Each kind and its Chinese word: a heading may be either."""

_KIND_OF = {**{kind: kind for kind in KINDS}, **{word: kind for kind, word in KINDS.items()}}
_BREAKS = "\x0b\x0c\r\x1c\x1d\x1e\x85\u2028\u2029"
_CODES = "|".join(f"u{ord(one):04x}" for one in _BREAKS)
# A run of backslashes is matched whole, from its start: hostile runs cost no more than others.
_PLAIN = re.compile(rf"(?<!\\)(\\*+)(\n|n|<!--|[{_BREAKS}]|{_CODES})")
_WRITTEN = re.compile(rf"(?<!\\)(\\++)(n|<!--|{_CODES})")
_HEADING = re.compile(r"(##?)(?![^ \t])(.*)")
_MEMORY = re.compile(r"^- (?P<text>.*?) ?(?<!\\)<!-- (?P<id>mem_[0-9a-z]+) -->")


class Role(StrEnum):
    """The role of a line."""

    FREE = "free"
    HEADING = "heading"  # opens the section of its kind; without a kind, ends the previous section
    MEMORY = "memory"
    NEW = "new"


@dataclass(frozen=True)
class Line:
    """A line; `raw` is all of it, including its line ending.

    `kind` is that of its section ("" outside of any); `text` and `id` are those of a memory, with
    the text decoded.
    """

    raw: str
    role: Role = Role.FREE
    kind: str = ""
    text: str = ""
    id: str = ""

    @property
    def end(self) -> str:
        """The line ending; empty at the end of some files."""
        body = self.raw.removesuffix("\n")
        return self.raw[len(body.removesuffix("\r")) :] if body != self.raw else ""


def read(raw: str, *, kind: str) -> Line:
    """Parse a line in the section of `kind` ("" outside of any)."""
    body = raw.removeprefix("\ufeff").rstrip(" \t\r\n")
    if body.startswith("- "):
        return _read_statement(raw, body, kind=kind)
    heading = _HEADING.fullmatch(body)
    if heading is None:
        return Line(raw, kind=kind)
    second = heading[1] == "##"
    return Line(raw, Role.HEADING, kind=_kind_of(heading[2]) if second else "")


def memory(text: str, *, id: str, kind: str, end: str = "\n") -> Line:
    """Return the line of a memory."""
    return Line(f"- {written(text)} <!-- {id} -->{end}", Role.MEMORY, kind=kind, text=text, id=id)


def heading(kind: str, *, chinese: bool = False, end: str = "\n") -> Line:
    """Return the line that opens the section of a kind."""
    word = KINDS[kind] if chinese else kind
    return Line(f"## {word}{end}", Role.HEADING, kind=kind)


def ended(line: Line, *, end: str) -> Line:
    """Return the line with a line ending, so that another can follow it."""
    return line if line.raw.endswith("\n") else replace(line, raw=line.raw + end)


def written(content: str) -> str:
    """Encode the content on one line. `plain` decodes it, whatever it contains."""

    def escape(found: re.Match[str]) -> str:
        slashes, what = found[1] * 2, found[2]
        if what == "\n":
            return slashes + "\\n"
        if what in _BREAKS:
            return f"{slashes}\\u{ord(what):04x}"
        return slashes + "\\" + what if what == "<!--" else slashes + what

    return _PLAIN.sub(escape, content)


def plain(text: str) -> str:
    """Decode a text that was `written`, or typed by hand."""

    def unescape(found: re.Match[str]) -> str:
        slashes, what = "\\" * (len(found[1]) // 2), found[2]
        if len(found[1]) % 2 == 0:
            return slashes + what
        if what == "n":
            return slashes + "\n"
        return slashes + (what if what == "<!--" else chr(int(what[1:], 16)))

    return _WRITTEN.sub(unescape, text)


def _read_statement(raw: str, body: str, *, kind: str) -> Line:
    found = _MEMORY.fullmatch(body)
    if found is not None:
        return Line(raw, Role.MEMORY, kind=kind, text=plain(found["text"]), id=found["id"])
    text = plain(body.removeprefix("- ")).strip()
    if not kind or not text:
        return Line(raw, kind=kind)
    return Line(raw, Role.NEW, kind=kind, text=text)


def _kind_of(heading: str) -> str:
    return _KIND_OF.get(heading.strip().lower(), "")
