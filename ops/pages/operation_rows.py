"""Show operations to people: their names, steps and errors in the language of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from django.db.models import Q
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext, pgettext_lazy

from ops import selectors
from ops.forgetting.forget_steps import FORGET_KINDS, STILL_IN, STILL_SAID
from ops.models import Kind, Operation, Priority, Status, User
from ops.pages import stored_amounts
from ops.selectors import Trouble

SHOWN = 20
SHOWS_RECEIPTS = "receipts"  # the tag of a toast with a link to the receipts
_LOADED = 200  # newest operations
_TROUBLES = 10  # overdue, stuck or failed operations that come first
_LEARNING = (
    Kind.EXTRACT_TURN,
    Kind.EXTRACT_CONVERSATION,
    Kind.SUMMARIZE,
    Kind.INDEX_EPISODE,
    Kind.INDEX_MEMORY,
    Kind.REVISE_MEMORY,
)
_UPKEEP = (  # background maintenance, listed separately unless it failed
    Kind.WORD_PORTRAIT,
    Kind.SYNC_FILES,
    Kind.REINDEX,
    Kind.BUILD_INDEX,
    Kind.MOVE_VECTORS,
    Kind.SYNC_VECTORS,
    Kind.CLEANUP,
    Kind.CONFIRM_MAIL,
    Kind.WEEKLY_MAIL,
)
_SOON = timedelta(minutes=1)
_TONES = {Status.SUCCEEDED: "success", Status.FAILED: "danger", Status.RUNNING: "accent"}
_STEPS = {
    "hide": gettext_lazy("Hide everything about it"),
    "remember": gettext_lazy("List what to search for afterwards"),
    "copies": gettext_lazy("Copies in notes, files and records"),
    "memories": gettext_lazy("Memories and everything derived from them"),
    "traces": gettext_lazy("Usage records"),
    "index": gettext_lazy("Search index"),
    "summaries": gettext_lazy("Summaries"),
    "turns": gettext_lazy("Exchanges and earlier moments"),
    "messages": pgettext_lazy("what was said", "Messages"),
    "exports": gettext_lazy("Exports"),
    "conversation": gettext_lazy("The conversation itself"),
    "project": gettext_lazy("The project itself"),
    "account": gettext_lazy("The account itself"),
    "cache": gettext_lazy("Cache"),
    "milvus": gettext_lazy("Separate search index"),
    "scan": gettext_lazy("Check that nothing is left"),
    "vacuum": gettext_lazy("Clean the disk"),
}
IMPORT_FORMATS = {
    "memory_center": gettext_lazy("Memory Center export"),
    "chatgpt": "ChatGPT",
    "mem0": "mem0",
    "markdown": "Markdown",
    "jsonl": gettext_lazy("JSON lines"),
    "memorybank": "MemoryBank",
    "locomo": "LoCoMo",
}
_BROKE = re.compile(r"It broke off \((?P<what>\w+)\)\.")
_LEFT = re.compile(r"(?P<n>\d{1,12}) traces are left: (?P<where>.+)", re.DOTALL)
# Error messages that contain a number or a name, with their translations.
_SAID = (
    (
        re.compile(r"The model’s server answered (?P<n>\d+)\."),
        gettext_noop("The model’s server answered with the error %(n)s."),
    ),
    (
        re.compile(r"The model’s server refused the call \((?P<n>\d+)\)\."),
        gettext_noop("The model’s server refused the call (error %(n)s)."),
    ),
    (
        re.compile(r"The memories were embedded by (?P<which>.+), and the settings .+"),
        gettext_noop(
            "The memories were embedded by %(which)s, and the settings don’t say where it is."
        ),
    ),
    (
        _BROKE,
        gettext_noop("It stopped unexpectedly (%(what)s)."),
    ),
    (
        re.compile(r"The file is not valid JSON: line (?P<n>\d+) can’t be read\."),
        gettext_noop("The file is not valid JSON: line %(n)s can’t be read."),
    ),
    (
        re.compile(r"The file is not in UTF-8: line (?P<n>\d+) can’t be read\."),
        gettext_noop("The file is not in UTF-8: line %(n)s can’t be read."),
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
# For each exception that an error message may name: why the attempt failed.
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
# Messages of the outbox and of providers. The list makes gettext collect them for translation.
AS_IT_IS = (
    gettext_noop("This is already waiting to be done."),
    gettext_noop("The model did not answer in time."),
    gettext_noop("The model’s server can’t be reached."),
    gettext_noop("The model’s answer was cut off."),
    gettext_noop("The embedder was changed meanwhile. Try again."),
    gettext_noop("The embedding model returned vectors for the wrong texts."),
    gettext_noop("The embedder’s answer has no vectors."),
    gettext_noop("The embedder’s vectors hold no numbers."),
)
_TROUBLE_WORDS = {
    Trouble.OVERDUE: gettext_noop("It is due, but no worker has started it. Is a worker running?"),
    Trouble.STUCK: gettext_noop(
        "It is stuck. If its worker has stopped, another one will take over automatically."
    ),
}


@dataclass(frozen=True)
class Step:
    title: str
    state: str
    note: str = ""


@dataclass(frozen=True)
class OperationLine:
    """A line for one operation, or for several finished operations that learned something.

    `times` says how many messages several operations learned from ("from 3 messages"); it is empty
    for a single operation, or if the number is unknown.
    """

    operation: Operation
    title: str
    times: str
    tone: str
    steps: list[Step]
    progress: str
    error: str
    trouble: str
    again_at: datetime | None
    receipt_id: str
    can_retry: bool
    can_cancel: bool

    @property
    def is_open(self) -> bool:
        """Return whether the details of the line are initially expanded."""
        noteworthy = self.error or self.trouble
        return self.operation.status in (Status.RUNNING, Status.FAILED) or bool(noteworthy)

    @property
    def since(self) -> datetime:
        return selectors.waiting_since(self.operation)

    @property
    def has_details(self) -> bool:
        shown = self.steps or self.error or self.trouble
        return bool(shown or self.can_retry or self.can_cancel)


def operation_lines(user: User) -> tuple[list[OperationLine], list[OperationLine]]:
    """Return the lines for the newest operations, and separately those for background maintenance.

    Failed maintenance is listed among the operations. Consecutive operations that learned
    something successfully share a line. Overdue or stuck operations and failed forget operations
    come first, however old they are.
    """
    now = timezone.now()
    wanted = Q(status=Status.FAILED, priority=Priority.FORGET)
    for trouble in Trouble:
        wanted |= selectors.in_trouble(trouble, now=now)
    first = list(selectors.operations_of(user).filter(wanted).order_by("-pk")[:_TROUBLES])
    rows = list(selectors.operations_of(user).order_by("-pk")[:_LOADED])
    rest = [row for row in rows if row not in first]
    upkeep = [row for row in rest if row.kind in _UPKEEP and row.status != Status.FAILED]
    shown = [row for row in rest if row not in upkeep]
    return [*map(line_of, first), *_lines(shown)], _lines(upkeep)


def _lines(rows: Sequence[Operation]) -> list[OperationLine]:
    lines: list[OperationLine] = []
    for _key, alike in groupby(rows, key=lambda one: 0 if _has_learned(one) else one.pk):
        several = list(alike)
        cut_off = len(rows) >= _LOADED - _TROUBLES and several[-1] is rows[-1]
        lines.append(line_of(several[0], alike=several[1:], cut_off=cut_off))
        if len(lines) == SHOWN:
            break
    return lines


def _has_learned(operation: Operation) -> bool:
    return operation.status == Status.SUCCEEDED and operation.kind in _LEARNING


def line_of(
    operation: Operation, *, alike: Sequence[Operation] = (), cut_off: bool = False
) -> OperationLine:
    """Return the line for an operation.

    `alike` are older operations that share the line; with `cut_off`, there may be more of them.
    """
    waits = operation.status == Status.PENDING and bool(operation.last_error)
    receipt = getattr(operation, "receipt", None)
    trouble = selectors.trouble_of(operation, now=timezone.now())
    return OperationLine(
        operation=operation,
        title=_("Learning")
        if any(other.kind != operation.kind for other in alike)
        else str(operation.get_kind_display()),
        times="" if cut_off or not alike else _messages_in([operation, *alike]),
        tone="warning" if trouble else _TONES.get(Status(operation.status), ""),
        steps=_steps_of(operation) if operation.kind in FORGET_KINDS else [],
        progress=progress_in_words(operation) if operation.status == Status.RUNNING else "",
        error="" if operation.status == Status.SUCCEEDED else error_words(operation.last_error),
        trouble=trouble_in_words(trouble) if trouble else "",
        again_at=operation.run_after if waits and not trouble else None,
        receipt_id=receipt.public_id if receipt is not None else "",
        # A failed import's file is deleted, so it must be uploaded again.
        can_retry=operation.status == Status.FAILED and operation.kind != Kind.IMPORT,
        can_cancel=selectors.can_be_cancelled(operation),
    )


def _messages_in(operations: Iterable[Operation]) -> str:
    count = sum(one.kind == Kind.EXTRACT_TURN for one in operations)
    words = ngettext("from %(n)s message", "from %(n)s messages", count)
    return words % stored_amounts.formatted(count) if count else ""


def is_moving(lines: Iterable[OperationLine]) -> bool:
    """Return whether an operation is running or will run soon, so the page must be refreshed."""
    soon = timezone.now() + _SOON
    return any(
        line.operation.status == Status.RUNNING
        or (line.operation.status == Status.PENDING and line.operation.run_after <= soon)
        for line in lines
    )


def _steps_of(operation: Operation) -> list[Step]:
    titles: dict[str, int] = {}
    for done in operation.steps_done:
        title = _step_title(done["step"])
        titles[title] = titles.get(title, 0) + sum(done["erased"].values())
    current = _step_title(operation.progress_step) if operation.progress_step else ""
    if operation.status != Status.SUCCEEDED:
        titles.pop(current, None)  # a step may have several rounds
    erased = _("%(n)s erased")
    steps = [
        Step(title, "done", erased % stored_amounts.formatted(count) if count else "")
        for title, count in titles.items()
    ]
    if operation.status in (Status.PENDING, Status.RUNNING, Status.FAILED):
        state = "failed" if operation.status == Status.FAILED else "running"
        steps.append(Step(current or _("Getting ready"), state))
    finished = operation.status == Status.SUCCEEDED
    return [*steps, Step(_("Receipt"), "done" if finished else "waiting")]


def _step_title(name: str) -> str:
    return str(_STEPS[name]) if name in _STEPS else stored_amounts.label_of(name)


def progress_in_words(operation: Operation) -> str:
    """Return the progress, such as "3 of 12"; "" if the total is unknown."""
    numbers = {"done": operation.progress_done, "total": operation.progress_total}
    words = {name: number_format(value, force_grouping=True) for name, value in numbers.items()}
    return _("%(done)s of %(total)s") % words if operation.progress_total else ""


def forgotten_words(operation: Operation | None = None) -> str:
    """Return the message to show after a request to forget; it says where to find the receipt."""
    return _("%(forgotten)s You’ll find the receipt under Data management.") % {
        "forgotten": forgotten_and_kept(operation)
    }


def forgotten_and_kept(operation: Operation | None) -> str:
    """Return a message that says that the content is forgotten.

    The message also contains the number of kept rows that still mention the content, if any.
    """
    payload = operation.payload if operation else {}
    still = in_words(payload.get(STILL_IN) or {"message": payload.get(STILL_SAID, 0)})
    if not still:
        return _("Forgotten. It’s no longer shown or used.")
    return _(
        "Forgotten, and no longer used. Some of what you kept still mentions it: %(places)s."
    ) % {"places": still}


def in_words(counts: Mapping[str, int]) -> str:
    """Return numbers of rows in words: "1 message, 1 earlier moment"; "" if all are 0."""
    words = stored_amounts.WORDS
    return _(", ").join(
        words[name](count) % stored_amounts.formatted(count)
        for name, count in counts.items()
        if count
    )


def trouble_in_words(trouble: Trouble) -> str:
    return _(_TROUBLE_WORDS[trouble])


def _residue_words(count: int, where: str) -> str:
    places = (one.partition(" ")[0].partition(".")[0] for one in where.split(", "))
    kinds = dict.fromkeys(label for one in places if (label := stored_amounts.known_label(one)))
    words = ngettext(
        "Some of what should be erased is left in %(n)s place.",
        "Some of what should be erased is left in %(n)s places.",
        count,
    )
    left = words % stored_amounts.formatted(count)
    if not kinds:
        return left
    return _("%(left)s Found in: %(kinds)s.") % {"left": left, "kinds": _(", ").join(kinds)}


def error_words(error: str) -> str:
    if not error:
        return ""
    found = _BROKE.fullmatch(error)
    if found and found["what"] in _BROKE_OFF:
        return _(_BROKE_OFF[found["what"]])
    if found := _LEFT.fullmatch(error):
        return _residue_words(int(found["n"]), found["where"])
    for pattern, words in _SAID:
        if found := pattern.fullmatch(error):
            parts = found.groupdict()
            named = {
                name: str(IMPORT_FORMATS.get(value, _(value))) for name, value in parts.items()
            }
            return _(words) % named
    return _(error)
