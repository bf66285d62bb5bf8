"""Anthropic's memory tool (`memory_20250818`): six commands with which a model edits memory files.

The folder `/memories` contains the same files that users see: an edit of `MEMORY.md` or
`LEARNINGS.md` changes memories, a daily note can only be appended to, and all other files are
persona layers or the user's own notes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone

from foundation.errors import Conflict, Invalid, NotFound
from memories.files import daily_notes, file_contents, file_sync, grammar, memory_files
from memories.files.grammar import CURATED, BadPath
from memories.files.memory_files import FileState, PreparedEdit
from memories.models import MemoryFile
from ops.access import as_user
from ops.accounts import users
from ops.models import User

SURFACE = "tool"
_APPEND_ONLY = (
    "Daily notes are append-only: insert at the end of today's, or use memory_append. {path}"
    " was not changed."
)


# A function that runs a checked command in the caller's transaction and returns the answer for the
# model. It raises the same errors as `prepare`, and `Stale` if the file has changed since then.
Planned = Callable[[], str]


def prepare(data: Mapping[str, Any], *, user: User) -> Planned:
    """Check a command and embed its texts; call this function outside a transaction.

    Return a function that runs the command. `data` holds the arguments as given. If the command
    can't be carried out, raise `NotFound`, `Conflict`, or `Invalid` with the name of the wrong
    argument. The messages use the wording of Anthropic's tool.
    """
    try:
        return _PREPARED[data["command"]](data, user)
    except ToolProblem as problem:
        raise Invalid.field(problem.field, problem.message) from problem


def _view(data: Mapping[str, Any], user: User) -> Planned:
    path = _inside(data, "path")
    return partial(_viewed, user, path, data)


def _viewed(user: User, path: str, data: Mapping[str, Any]) -> str:
    shown_path = data["path"].rstrip("/")
    if not users.settings_of(user).longterm_enabled:
        return listing_answer(shown_path, {})
    if path and (file := _file(user, path)):
        return file_answer(data["path"], file.text, lines=data.get("view_range"))
    start = f"{path}/" if path else ""
    sizes = {
        one.path.removeprefix(start): one.bytes
        for one in memory_files.all_of(user)
        if one.path.startswith(start)
    }
    if not sizes:
        raise NotFound(f"The path {data['path']} does not exist. Please provide a valid path.")
    return listing_answer(shown_path, sizes)


def _create(data: Mapping[str, Any], user: User) -> Planned:
    path = _inside(data, "path")
    with as_user(user):
        if not path or _file(user, path) or _folder_is_there(user, path):
            raise Conflict(f"File {data['path']} already exists")
        if not file_contents.day_of(path):
            memory_files.check_room_for_note(user, path)
    answer = f"File created successfully at: {data['path']}"
    if file_contents.day_of(path):
        return _appending(user, path, data["file_text"], answer, shown_path=data["path"])
    ready = _ready(user, path, data["file_text"], "file_text", new=True)
    return partial(_edited, user, ready, answer)


def _str_replace(data: Mapping[str, Any], user: User) -> Planned:
    file = _file_to_edit(data, user)
    if file_contents.day_of(file.path):
        raise Conflict(_APPEND_ONLY.format(path=data["path"]))
    old, new = data["old_str"], data["new_str"]
    text, answer = replaced_answer(data["path"], file.text, old=old, new=new)
    return partial(_edited, user, _ready(user, file.path, text, "new_str", match=file.etag), answer)


def _insert(data: Mapping[str, Any], user: User) -> Planned:
    file = _file_to_edit(data, user)
    line, new = data["insert_line"], data["insert_text"]
    text, answer = inserted_answer(data["path"], file.text, line=line, new=new)
    if file_contents.day_of(file.path):
        if line < len(numbered_lines(file.text)):
            raise Conflict(_APPEND_ONLY.format(path=data["path"]))
        return _appending(user, file.path, new, answer, shown_path=data["path"])
    ready = _ready(user, file.path, text, "insert_text", match=file.etag)
    return partial(_edited, user, ready, answer)


def _delete(data: Mapping[str, Any], user: User) -> Planned:
    path = _inside(data, "path")
    if not path:
        raise Conflict(f"Cannot delete the {grammar.ROOT} directory itself")
    answer = f"Successfully deleted {data['path']}"
    if path in CURATED:
        return partial(_edited, user, _ready(user, path, "", "path", match="*"), answer)
    return partial(_deleted, user, path, data["path"], answer)


def _deleted(user: User, path: str, shown_path: str, answer: str) -> str:
    memory_files.recycle_notes(_notes_at(user, path, shown_path), user=user)
    return answer


def _rename(data: Mapping[str, Any], user: User) -> Planned:
    old, new = _inside(data, "old_path"), _inside(data, "new_path")
    if not old:
        raise Conflict(f"Cannot rename the {grammar.ROOT} directory itself")
    return partial(_renamed, user, old, new, data)


def _renamed(user: User, old: str, new: str, data: Mapping[str, Any]) -> str:
    if old in CURATED:
        raise Conflict(f"{data['old_path']} shows the memories themselves and can't be renamed.")
    files = _notes_at(user, old, data["old_path"])
    if not new or _file(user, new) or _folder_is_there(user, new):
        raise Conflict(f"The destination {data['new_path']} already exists")
    if not memory_files.is_own_note(new):
        raise Conflict(_APPEND_ONLY.format(path=data["new_path"]))
    if new.startswith(f"{old}/"):
        raise Invalid.field("new_path", "A folder can’t be moved into itself.")
    memory_files.check_room_for_note(user, new)
    memory_files.rename_notes(files, user=user, old=old, new=new)
    return f"Successfully renamed {data['old_path']} to {data['new_path']}"


def _inside(data: Mapping[str, Any], field: str) -> str:
    try:
        return grammar.below_root(data[field])
    except BadPath as problem:
        raise Invalid.field(field, str(problem)) from problem


def _file(user: User, path: str) -> FileState | None:
    try:
        return memory_files.read(user, path)
    except NotFound:
        return None


def _folder_is_there(user: User, path: str) -> bool:
    notes_too = path == daily_notes.FOLDER and bool(file_contents.days_of(user))
    return notes_too or bool(memory_files.notes_below(user, path))


def _file_to_edit(data: Mapping[str, Any], user: User) -> FileState:
    path = _inside(data, "path")
    with as_user(user):
        file = _file(user, path) if path else None
        if file is None and (not path or _folder_is_there(user, path)):
            raise Conflict(f"The path {data['path']} is not a file.")
    if file is None:
        raise NotFound(f"The path {data['path']} does not exist. Please provide a valid path.")
    return file


def _notes_at(user: User, path: str, shown_path: str) -> list[MemoryFile]:
    if file_contents.day_of(path) or (path == daily_notes.FOLDER and file_contents.days_of(user)):
        raise Conflict(_APPEND_ONLY.format(path=shown_path))
    row = file_contents.row_of(user, path)
    found = [row] if row else memory_files.notes_below(user, path)
    if not found:
        raise NotFound(f"The path {shown_path} does not exist")
    return found


def _ready(user: User, path: str, text: str, field: str, **how: Any) -> PreparedEdit:
    try:
        return memory_files.prepare(text, user=user, path=path, surface=SURFACE, **how)
    except Invalid as problem:
        messages = [text for texts in problem.fields.values() for text in texts]
        raise Invalid(problem.message, fields={field: messages or [problem.message]}) from problem


def _edited(user: User, ready: PreparedEdit, answer: str) -> str:
    waiting = len(file_sync.edit(ready, user=user).done.to_review)
    if not waiting:
        return answer
    return f"{answer}\n{waiting} of these changes wait for the person's decision."


def _appending(user: User, path: str, text: str, answer: str, *, shown_path: str) -> Planned:
    today = timezone.now().astimezone(ZoneInfo(users.settings_of(user).timezone)).date()
    if path != daily_notes.path_of(today):
        raise Conflict(_APPEND_ONLY.format(path=shown_path))
    texts = (_line_text(line) for line in text.splitlines())
    lines = [line for line in texts if line and not line.startswith("# ")]
    return partial(_appended, user, lines, answer)


def _line_text(line: str) -> str:
    """Return the text of a line to append, without a list marker, time and source.

    An agent may have copied these from the displayed note.
    """
    shown = grammar.read_note_line(line.strip())
    return (shown.text if shown else line.strip().removeprefix("- ")).strip()


def _appended(user: User, lines: list[str], answer: str) -> str:
    for line in lines:
        daily_notes.append(line, user=user, source=SURFACE)
    return answer


_PREPARED: Mapping[str, Callable[[Mapping[str, Any], User], Planned]] = {
    "view": _view,
    "create": _create,
    "str_replace": _str_replace,
    "insert": _insert,
    "delete": _delete,
    "rename": _rename,
}


_WIDTH = 6  # width of a line number
_DEEPEST = 2  # levels shown in a listing


class ToolProblem(ValueError):
    """Raised if a command can't be carried out.

    The message is written for the model; `field` is the argument that is wrong.
    """

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.message, self.field = message, field


def file_answer(path: str, text: str, *, lines: Sequence[int] | None = None) -> str:
    """Return the answer that shows a file with numbered lines.

    `lines` holds the numbers of the first and the last line to show; -1 means the end of the file.
    """
    shown, first = text.split("\n"), 1
    if lines is not None:
        first = max(1, lines[0])
        shown = shown[first - 1 : len(shown) if lines[1] == -1 else max(0, lines[1])]
    numbered = "\n".join(_numbered(shown, first=first))
    return f"Here's the content of {path} with line numbers:\n{numbered}"


def listing_answer(path: str, sizes: Mapping[str, int]) -> str:
    """Return the answer that lists a folder, two levels deep.

    `sizes` maps the path of each file to its size in bytes.
    """
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


def replaced_answer(path: str, text: str, *, old: str, new: str) -> tuple[str, str]:
    """Replace the only occurrence of `old`; return the new text and the tool's answer.

    Raise `ToolProblem` if `old` doesn't occur exactly once.
    """
    places: list[int] = []
    place = text.find(old)
    while place != -1:
        places.append(place)
        place = text.find(old, place + 1)
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


def inserted_answer(path: str, text: str, *, line: int, new: str) -> tuple[str, str]:
    """Insert `new` after a line (0: at the beginning); return the new text and the tool's answer.

    Raise `ToolProblem` if the line doesn't exist.
    """
    lines = numbered_lines(text)
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


def numbered_lines(text: str) -> list[str]:
    """Return the lines of a text, split at newlines only.

    A final newline doesn't start another line.
    """
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _numbered(lines: Sequence[str], *, first: int) -> list[str]:
    return [f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first)]


def _size(count: int) -> str:
    if count == 0:
        return "0B"
    step = min((count.bit_length() - 1) // 10, 3)
    size = count / 1024**step
    return f"{int(size)}{'BKMG'[step]}" if size == int(size) else f"{size:.1f}{'BKMG'[step]}"
