from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from conversations.importing import dialogues
from conversations.importing.formats import file_rows, values
from conversations.importing.formats.values import ImportedPerson, SkippedPart
from conversations.management import wait_for_learning
from conversations.management.wait_for_learning import Terminal
from foundation.errors import ApplicationError
from memories.models import Memory, MemoryStatus
from memories.writing import curation
from ops.access import as_system, as_user
from ops.models import User

SAMPLE = settings.BASE_DIR / "memcenter" / "demo"
SAMPLE_PREFIX = "demo-"
_UNFIT_FOR_ID = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_STOPPED = 130


@dataclass(frozen=True)
class Source:
    """A person from a file, with their external id.

    People of the demo data also get a login name.
    """

    person: ImportedPerson
    external_id: str
    username: str = ""


class Command(BaseCommand):
    help = "Load the example people or files of conversations, and wait until learning is done."
    # The command serves no page; running all system checks would only delay it.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "paths",
            nargs="*",
            type=Path,
            metavar="PATH",
            help="MemoryBank, LoCoMo or JSON lines files; default: the included example",
        )
        parser.add_argument(
            "--no-wait", action="store_true", help="only record; a worker learns later"
        )
        parser.add_argument(
            "--retry", action="store_true", help="also retry failed operations of these people"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self._terminal = Terminal(self.stdout)
        began = timezone.now()
        # Read everything before writing anything.
        sources = list(self._sources(options["paths"]))
        people: list[User] = []
        stopped = False
        try:
            for source in sources:
                people.append(self._load(source))
            if options["retry"]:
                wait_for_learning.retry(people)
            if not options["no_wait"]:
                wait_for_learning.wait(people, since=began, terminal=self._terminal)
                if not options["paths"]:
                    apply_touches(SAMPLE / "touches.json", people=people)
        except KeyboardInterrupt:
            stopped = True
        outcome = wait_for_learning.result_of(people)
        row = self._terminal.row
        self._terminal.say("")
        row("People 人物", str(len(people)))
        self._terminal.listing([f"{user.external_id}" for user in people])
        row("Memories 记忆", str(outcome.memories))
        row("To review 待确认", str(outcome.to_review))
        row("Still to do 待处理", str(outcome.later))
        row("Failed 失败", str(outcome.failed))
        self._terminal.listing(
            [f"{count} x {kind}: {error}" for count, kind, error in outcome.failures]
        )
        self._show_logins(sources, people)
        if stopped:
            raise CommandError(
                "Stopped. Run the same command again to complete it.", returncode=_STOPPED
            )
        if outcome.failed:
            raise CommandError("Some operations failed; --retry tries them again.")

    def _sources(self, paths: Sequence[Path]) -> Iterator[Source]:
        if not paths:
            for path in sorted(SAMPLE.glob("*.jsonl")):
                for person in self._read(path):
                    name = person.external_id
                    yield Source(person, SAMPLE_PREFIX + name, username=name.replace("-", ""))
        for path in paths:
            for person in self._read(path):
                yield Source(person, person.external_id or _id_from(path))

    def _read(self, path: Path) -> list[ImportedPerson]:
        skipped: list[SkippedPart] = []
        try:
            people = list(file_rows.read_people(path, report=skipped.append))
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
        except ApplicationError as error:
            raise CommandError(f"{path}: {error.message}") from error
        if skipped:
            self._terminal.say(f"{path.name}: {len(skipped)} places left out")
            self._terminal.listing([f"{one.where}: {one.why}" for one in skipped])
        return people

    def _load(self, source: Source) -> User:
        name = source.person.name or source.external_id

        def show(progress: dialogues.Progress) -> None:
            where = f"{progress.conversation}/{progress.conversations}"
            self._terminal.progress(
                f"Recording 写入  {name} {where}",
                progress.messages,
                progress.total,
                worth_a_line=progress.conversation_is_done,
            )

        began = time.monotonic()
        try:
            user = dialogues.find_or_create_account(source.person, external_id=source.external_id)
            loaded = dialogues.load_person(source.person, user=user, on_progress=show)
        except ApplicationError as error:
            raise CommandError(f"{name}: {error.message}") from error
        self._terminal.say(_summary(name, loaded, seconds=time.monotonic() - began))
        self._terminal.listing(
            [f"{one.conversation} {one.message}: {one.reason}" for one in loaded.skipped]
        )
        return user

    def _show_logins(self, sources: Sequence[Source], people: Sequence[User]) -> None:
        for source, user in zip(sources, people, strict=False):
            if not source.username:
                continue
            password = _give_login(user, source.username)
            self._terminal.say("")
            self._terminal.row("Login 登录", user.username or "")
            self._terminal.row(
                "Password 密码",
                password or f"given before; another one: manage.py changepassword {user.username}",
            )


def _summary(name: str, loaded: dialogues.Loaded, *, seconds: float) -> str:
    new = f"{loaded.turns} turns, {loaded.messages} messages" if loaded.messages else "nothing new"
    repeated = f", {loaded.repeated} messages were there" if loaded.repeated else ""
    skipped = f", {len(loaded.skipped)} messages left out" if loaded.skipped else ""
    pace = f", {loaded.turns / seconds:.0f} turns/s" if loaded.turns else ""
    return f"{name}: {new}{repeated}{skipped} ({seconds:.1f} s{pace})"


def _id_from(path: Path) -> str:
    return _UNFIT_FOR_ID.sub("", path.stem)[: values.EXTERNAL_ID_LENGTH] or "imported"


def _give_login(user: User, username: str) -> str:
    if user.username and user.has_usable_password():
        return ""
    password = secrets.token_urlsafe(12)
    with as_system():
        user.username = user.username or _free_username(username)
        user.set_password(password)
        user.save(update_fields=["username", "password", "updated_at"])
    return password


def _free_username(username: str) -> str:
    """Return `username`, or `username-2`, `username-3`, … if another user already has that name."""
    taken = User.objects.filter(username__startswith=username).values_list("username", flat=True)
    return values.unique(username, [name for name in taken if name])


def apply_touches(path: Path, *, people: Sequence[User]) -> None:
    """Pin and tag the active memories that contain the words listed in a JSON file.

    Safe to repeat. Words that no memory contains are skipped.
    """
    wanted: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for user in people:
        touches = wanted.get(user.external_id or "")
        if touches is not None:
            with as_user(user, changing=True):
                pinned = _ids_containing(user, touches["pinned"])
                curation.apply_to_many(user=user, ids=pinned, action="pin")
                for tag, words in touches["tags"].items():
                    ids = _ids_containing(user, words)
                    curation.apply_to_many(user=user, ids=ids, action="tag", tag_name=tag)


def _ids_containing(user: User, words: Sequence[str]) -> list[str]:
    rows = Memory.objects.filter(user=user, status=MemoryStatus.ACTIVE)
    known = list(rows.values_list("public_id", "content"))
    folded = [word.casefold() for word in words]
    return [name for name, text in known if any(word in text.casefold() for word in folded)]
