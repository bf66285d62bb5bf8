r"""The grammar of memory files: their lines, their paths, and rendering memories as a file.

`## <kind>` opens a section; another heading of the first or second level ends it. `- <content> <!--
mem_… -->` is a memory; inside a section, `- <content>` is a new statement. All other lines, and
comments that aren't closed on their line, are free text.

Content is written verbatim, except for sequences that would break the line or hide its end: a
newline is written as `\n`, other line breaks as `\u2028` and the like, and `<!--` as `\<!--`.
Backslashes are doubled only directly before a sequence that would otherwise be read as one of
these.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from io import StringIO
from itertools import groupby
from types import MappingProxyType
from typing import Literal

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "preference": "偏好",
        "fact": "事实",
        "constraint": "约束",
        "task": "待办",
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
"""Maps each kind to its Chinese word; a heading may use either."""

_KIND_OF = {**{kind: kind for kind in KINDS}, **{word: kind for kind, word in KINDS.items()}}
_BREAKS = "\x0b\x0c\r\x1c\x1d\x1e\x85\u2028\u2029"
_CODES = "|".join(f"u{ord(one):04x}" for one in _BREAKS)
# A run of backslashes is matched as a whole, so that long runs take only linear time.
_PLAIN = re.compile(rf"(?<!\\)(\\*+)(\n|n|<!--|[{_BREAKS}]|{_CODES})")
_WRITTEN = re.compile(rf"(?<!\\)(\\++)(n|<!--|{_CODES})")
_HEADING = re.compile(r"(##?)(?![^ \t])(.*)")
_MEMORY = re.compile(r"^- (?P<text>.*?) ?(?<!\\)<!-- (?P<id>mem_[0-9a-z]+) -->")


class Role(StrEnum):
    """The role of a line in a memory file: a heading, a memory, a new statement or free text."""

    FREE = "free"
    HEADING = "heading"  # opens the section of its kind; without a kind, ends the previous section
    MEMORY = "memory"
    NEW = "new"


@dataclass(frozen=True)
class Line:
    """A parsed line of a memory file.

    `raw` is the whole line, including its line ending. `kind` is the kind of the line's section (""
    outside of any section). `text` is the decoded content of a memory or new statement, and `id` is
    the memory's id.
    """

    raw: str
    role: Role = Role.FREE
    kind: str = ""
    text: str = ""
    id: str = ""

    @property
    def end(self) -> str:
        """Return the line ending, or "" if there is none (possible only on the last line)."""
        body = self.raw.removesuffix("\n")
        return self.raw[len(body.removesuffix("\r")) :] if body != self.raw else ""


def read(raw: str, *, kind: str) -> Line:
    """Parse a line that is in the section of `kind` ("" outside of any section)."""
    body = raw.removeprefix("\ufeff").rstrip(" \t\r\n")
    if body.startswith("- "):
        found = _MEMORY.fullmatch(body)
        if found is not None:
            return Line(
                raw, Role.MEMORY, kind=kind, text=decode_line(found["text"]), id=found["id"]
            )
        text = decode_line(body.removeprefix("- ")).strip()
        if not kind or not text:
            return Line(raw, kind=kind)
        return Line(raw, Role.NEW, kind=kind, text=text)
    heading = _HEADING.fullmatch(body)
    if heading is None:
        return Line(raw, kind=kind)
    word = heading[2].strip().lower() if heading[1] == "##" else ""
    return Line(raw, Role.HEADING, kind=_KIND_OF.get(word, ""))


def memory_line(text: str, *, id: str, kind: str, end: str = "\n") -> Line:
    """Return the line that shows a memory."""
    return Line(
        f"- {encode_line(text)} <!-- {id} -->{end}", Role.MEMORY, kind=kind, text=text, id=id
    )


def ensure_line_ending(line: Line, *, end: str) -> Line:
    """Return the line; if the line has no line ending, add `end`."""
    return line if line.raw.endswith("\n") else replace(line, raw=line.raw + end)


def encode_line(content: str) -> str:
    """Encode any content so that it fits on one line; `decode_line` restores the content."""

    def escape(found: re.Match[str]) -> str:
        slashes, sequence = found[1] * 2, found[2]
        if sequence == "\n":
            return slashes + "\\n"
        if sequence in _BREAKS:
            return f"{slashes}\\u{ord(sequence):04x}"
        return slashes + "\\" + sequence if sequence == "<!--" else slashes + sequence

    return _PLAIN.sub(escape, content)


def decode_line(text: str) -> str:
    """Decode a text that was encoded by `encode_line`, or typed by hand."""

    def unescape(found: re.Match[str]) -> str:
        slashes, sequence = "\\" * (len(found[1]) // 2), found[2]
        if len(found[1]) % 2 == 0:
            return slashes + sequence
        if sequence == "n":
            return slashes + "\n"
        return slashes + (sequence if sequence == "<!--" else chr(int(sequence[1:], 16)))

    return _WRITTEN.sub(unescape, text)


@dataclass(frozen=True)
class Document:
    """A parsed memory file: its lines, in order."""

    lines: Sequence[Line] = ()

    @property
    def text(self) -> str:
        """Return the file's text, exactly as it was before it was parsed."""
        return "".join(line.raw for line in self.lines)

    @property
    def statements(self) -> Iterator[tuple[int, Line]]:
        """Return the lines of memories and new statements with their positions in the file."""
        return (
            (place, line)
            for place, line in enumerate(self.lines)
            if line.role in (Role.MEMORY, Role.NEW)
        )

    @property
    def end(self) -> str:
        """Return the line ending that the file uses, taken from its first line."""
        return (self.lines[0].end if self.lines else "") or "\n"


def parse(text: str) -> Document:
    """Parse any text; `parse(text).text == text` always holds."""
    lines: list[Line] = []
    kind = ""
    for raw in StringIO(text, newline="\n"):
        line = read(raw, kind=kind)
        kind = line.kind
        lines.append(line)
    return Document(lines)


MEMORY, LEARNINGS = "MEMORY.md", "LEARNINGS.md"
CURATED = (MEMORY, LEARNINGS)
USER, SOUL, TOOLS = "USER.md", "SOUL.md", "TOOLS.md"
LAYERS = (USER, SOUL, TOOLS)  # persona layers, in the order of the memory block
ROOT = "/memories"
# Maximum characters per path, characters per name, and names per path.
LONGEST, LONGEST_NAME, DEEPEST = 200, 100, 8
_MOST_BYTES = 240  # per name; below the limit of file systems
_ENCODED = re.compile(r"%(?:2e|2f|5c|00|25)", re.IGNORECASE)
_ODD = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


class BadPath(ValueError):
    """Raised if a path is invalid; the message explains the problem to the caller."""


def below_root(path: str) -> str:
    """Return the path relative to `/memories`, or "" for that folder itself.

    Raise `BadPath` if the path is invalid or outside the folder. Each file has only one path:
    repeated and trailing slashes are ignored, and characters are composed (NFC). Nothing is
    decoded, and percent-encoded separators and dots are refused.
    """
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise BadPath(f"Path must start with {ROOT}, got: {path}")
    names = [name for name in path.removeprefix(ROOT).split("/") if name]
    if "\\" in path or _ENCODED.search(path) or any(name in (".", "..") for name in names):
        raise BadPath(f"Path {path} would escape {ROOT} directory")
    inside = unicodedata.normalize("NFC", "/".join(names))
    for name in inside.split("/") if inside else []:
        if any(unicodedata.category(sign) in _ODD for sign in name):
            raise BadPath("A path must not contain control characters or invisible ones.")
        if name.startswith("."):
            raise BadPath("A name in a path must not begin with a dot.")
        if name != name.strip():
            raise BadPath("A name in a path must not begin or end with a space.")
        if len(name) > LONGEST_NAME or len(name.encode()) > _MOST_BYTES:
            raise BadPath(f"A name in a path has at most {LONGEST_NAME} characters.")
    if len(inside) > LONGEST or len(names) > DEEPEST:
        raise BadPath(f"A path has at most {LONGEST} characters and {DEEPEST} names.")
    return inside


_LINE = re.compile(r"- (?P<time>[0-2]\d:[0-5]\d) (?P<said>.*)", re.DOTALL)
_END = re.compile(r"(?<!\\)(?:\\\\)*+\] ")
_CLOSING = re.compile(r"(?<!\\)(\\*+)(\]|\Z)")
_CLOSED = re.compile(r"(?<!\\)(\\++)(\]|\Z)")


@dataclass(frozen=True)
class NoteEntry:
    """A parsed line of a daily note; `time` is `HH:MM` in the user's time zone."""

    time: str
    text: str
    source: str = ""


def format_note_line(entry: NoteEntry) -> str:
    """Return the line of a note without a line ending; `read_note_line` can always parse it."""
    text = encode_line(entry.text)
    if entry.source:
        return f"- {entry.time} [{_escape_source(encode_line(entry.source))}] {text}"
    slashes = len(text) - len(text.lstrip("\\"))
    if text[slashes : slashes + 1] == "[":
        text = "\\" * (2 * slashes + 1) + text[slashes:]
    return f"- {entry.time} {text}"


def read_note_line(line: str) -> NoteEntry | None:
    """Parse a line of a daily note; return None if the line has another form."""
    found = _LINE.fullmatch(line)
    if found is None or not found["said"].strip():
        return None
    text = found["said"]
    end = _END.search(text, 1) if text[0] == "[" else None
    if end is not None and end.end() > 3 and text[end.end() :].strip():
        source = _unescape_source(text[1 : end.end() - 2])
        return NoteEntry(found["time"], decode_line(text[end.end() :]), decode_line(source))
    slashes = len(text) - len(text.lstrip("\\"))
    if slashes % 2 and text[slashes : slashes + 1] == "[":
        text = text[(slashes + 1) // 2 :]
    return NoteEntry(found["time"], decode_line(text))


def read_note_lines(text: str) -> Iterator[NoteEntry]:
    """Yield the parsed lines of a daily note; skip its heading and other text."""
    for line in text.split("\n"):
        if noted := read_note_line(line.removesuffix("\r")):
            yield noted


def _escape_source(source: str) -> str:
    def double(found: re.Match[str]) -> str:
        return found[1] * 2 + ("\\]" if found[2] else "")

    return _CLOSING.sub(double, source)


def _unescape_source(source: str) -> str:
    def halve(found: re.Match[str]) -> str:
        return "\\" * (len(found[1]) // 2) + found[2]

    return _CLOSED.sub(halve, source)


_NOTHING = Document()


@dataclass(frozen=True)
class ShownMemory:
    """A memory as a file shows it.

    `text` is the content. If the content is too long, `long` is True, and `text` is the summary or,
    without a summary, the beginning of the content.
    """

    id: str
    kind: str
    text: str
    long: bool = False


def render(
    memories: Iterable[ShownMemory],
    *,
    keeping: Document = _NOTHING,
    became: Mapping[int, str | None] | None = None,
    chinese: bool = False,
) -> str:
    """Return the text of a file that shows each of the memories exactly once.

    `keeping` is the previous text of the file, and its lines keep their places. If a memory's kind
    has changed, its line moves to the end of the new section; if a memory isn't among `memories`,
    its line is removed. Lines with new statements and free text are unchanged. However, if `became`
    maps a line's position to a memory's id, the line becomes the line of this memory; if `became`
    maps the position to None, the line is removed.

    Memories without a line are added at the end of their section, in the order of `memories`;
    sections without a heading are added at the end of the file, with Chinese names if `chinese` is
    True. Rendering again with `keeping` set to the result gives the same bytes.
    """
    waiting = {memory.id: memory for memory in memories}
    end = keeping.end
    kept = _kept_lines(keeping, waiting, became or {}, end=end)
    sections: dict[str, list[ShownMemory]] = {}
    for memory in waiting.values():
        sections.setdefault(memory.kind, []).append(memory)
    places = _ends(kept)
    lines: list[Line] = []
    for place, line in enumerate(kept):
        lines.append(line)
        if line.kind in sections and places[line.kind] == place:
            lines[-1] = ensure_line_ending(line, end=end)
            lines += [Line(end, kind=line.kind)] if line.role is Role.HEADING else []
            lines += _memories(sections.pop(line.kind), end=end)
    for kind in sorted(sections, key=list(KINDS).index):
        if lines:
            lines[-1] = ensure_line_ending(lines[-1], end=end)
        apart = [Line(end)] if lines and lines[-1].raw.strip() else []
        word = KINDS[kind] if chinese else kind
        head = [Line(f"## {word}{end}", Role.HEADING, kind=kind), Line(end, kind=kind)]
        lines += [*apart, *head, *_memories(sections[kind], end=end)]
    return Document(lines).text


def _kept_lines(
    keeping: Document,
    waiting: dict[str, ShownMemory],
    became: Mapping[int, str | None],
    *,
    end: str,
) -> list[Line]:
    lines: list[Line] = []
    for place, line in enumerate(keeping.lines):
        id = became.get(place, line.id)
        if id == "":
            lines.append(line)
            continue
        memory = waiting.get(id) if id is not None else None
        if memory is None or line.kind not in ("", memory.kind):
            continue
        del waiting[memory.id]
        if (line.id, line.text) != (memory.id, memory.text):
            line = memory_line(memory.text, id=memory.id, kind=line.kind, end=line.end or end)
        lines.append(line)
    return lines


def _ends(lines: list[Line]) -> dict[str, int]:
    """Return, for each section, the position after which new lines are added.

    This is the position of the section's last statement, or of its heading if there is no
    statement. An empty line directly below the heading counts as part of the heading; otherwise
    each rendering could add another empty line.
    """
    places: dict[str, int] = {}
    for place, line in enumerate(lines):
        below = place > 0 and lines[place - 1].role is Role.HEADING and not line.raw.strip()
        if line.role is not Role.FREE or below:
            places[line.kind] = place
    return places


def _memories(memories: list[ShownMemory], *, end: str) -> list[Line]:
    return [memory_line(one.text, id=one.id, kind=one.kind, end=end) for one in memories]


@dataclass(frozen=True)
class Block:
    """A part of a file as a page shows it: a heading, consecutive memories, or Markdown text."""

    what: Literal["heading", "memories", "text"]
    text: str = ""
    kind: str = ""
    lines: Sequence[Line] = ()


def blocks_of(lines: Iterable[Line]) -> Iterator[Block]:
    """Yield the lines grouped into blocks, in order.

    Empty lines between two blocks are left out.
    """
    for what, group in groupby(lines, key=_line_type):
        found = list(group)
        if what == "heading":
            yield from (
                Block("heading", one.raw.strip().lstrip("#").strip(), one.kind) for one in found
            )
        elif what == "memories":
            yield Block("memories", kind=found[0].kind, lines=found)
        elif text := "".join(one.raw for one in found).strip():
            yield Block("text", text)


def _line_type(line: Line) -> str:
    if line.role is Role.HEADING:
        return "heading"
    return "memories" if line.role is Role.MEMORY else "text"
