"""The answers of Anthropic's memory tool (`memory_20250818`), word for word.

The texts are those of `BetaLocalFilesystemMemoryTool` in the `anthropic` package, so that a model
reads the wording it was trained on. `path` is always as the caller wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_WIDTH = 6  # of a line's number
_DEEPEST = 2  # levels that a listing shows


class ToolProblem(ValueError):
    """Why a command did nothing, in words for the model; `field` is the argument at fault."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.message, self.field = message, field


def content(path: str, text: str, *, lines: Sequence[int] | None = None) -> str:
    """Return a file with numbered lines; `lines` are the first and the last, -1 for the end."""
    shown, first = text.split("\n"), 1
    if lines is not None:
        first = max(1, lines[0])
        shown = shown[first - 1 : len(shown) if lines[1] == -1 else max(0, lines[1])]
    numbered = "\n".join(_numbered(shown, first=first))
    return f"Here's the content of {path} with line numbers:\n{numbered}"


def listing(path: str, sizes: Mapping[str, int]) -> str:
    """Return a folder listing, two levels deep; `sizes` has the bytes of all files, by path."""
    head = (
        f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    )
    found: dict[str, int] = {}
    for name, size in sizes.items():
        parts = name.split("/")
        for depth in range(1, min(len(parts), _DEEPEST) + 1):
            shown = "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
            found[shown] = found.get(shown, 0) + size
    ordered = sorted(found, key=lambda name: name.rstrip("/").split("/"))
    entries = [f"{_size(sum(sizes.values()))}\t{path}"]
    entries += [f"{_size(found[name])}\t{path}/{name}" for name in ordered]
    return "\n".join([head, *entries])


def replaced(path: str, text: str, *, old: str, new: str) -> tuple[str, str]:
    """Replace the only occurrence of `old`; return text and answer. Raises `ToolProblem`."""
    places = _places(old, text)
    if not places:
        raise ToolProblem(
            f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.",
            field="old_str",
        )
    if text.count(old) > 1:
        lines = ", ".join(str(text[:place].count("\n") + 1) for place in places)
        raise ToolProblem(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines:"
            f" {lines}. Please ensure it is unique",
            field="old_str",
        )
    changed, line = text.replace(old, new), text[: places[0]].count("\n")
    first = max(0, line - 2)
    snippet = "\n".join(_numbered(changed.split("\n")[first : line + 3], first=first + 1))
    return changed, (
        "The memory file has been edited. Here is the snippet showing the change"
        f" (with line numbers):\n{snippet}"
    )


def inserted(path: str, text: str, *, line: int, new: str) -> tuple[str, str]:
    """Insert `new` after a line (0: at the beginning); return text and answer."""
    lines = lines_of(text)
    if not 0 <= line <= len(lines):
        raise ToolProblem(
            f"Invalid `insert_line` parameter: {line}."
            f" It should be within the range [0, {len(lines)}].",
            field="insert_line",
        )
    lines.insert(line, new.rstrip("\n"))
    changed = "\n".join(lines)
    return changed if changed.endswith("\n") else changed + "\n", (
        f"The file {path} has been edited."
    )


def lines_of(text: str) -> list[str]:
    """Split at newlines only; an empty part after the last newline isn't a line."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _places(old: str, text: str) -> list[int]:
    """Return the positions of all occurrences, including overlapping ones."""
    places: list[int] = []
    place = text.find(old)
    while place != -1:
        places.append(place)
        place = text.find(old, place + 1)
    return places


def _numbered(lines: Sequence[str], *, first: int) -> list[str]:
    return [f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first)]


def _size(count: int) -> str:
    """Format bytes like the tool: 0B, 512B, 1.5K, 2M."""
    if count == 0:
        return "0B"
    step = min((count.bit_length() - 1) // 10, 3)
    size = count / 1024**step
    return f"{int(size)}{'BKMG'[step]}" if size == int(size) else f"{size:.1f}{'BKMG'[step]}"
