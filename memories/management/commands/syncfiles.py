from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from foundation.errors import ApplicationError
from memories.files import file_copies, file_sync
from ops.access import as_system
from ops.accounts import users
from ops.models import User


class Command(BaseCommand):
    help = "Read edited memory files from disk, and write all memory files again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", help="the external id of a user; default: all users")

    def handle(self, *args: Any, **options: Any) -> None:
        failed = 0
        for user in self._people(options["user"]):
            synced = file_sync.sync(user)
            where = file_copies.folder_of(user.pk) or user.subject
            for path, counts in synced.edits.items():
                told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
                print(f"{where} {path}: read in ({told or 'nothing new'})")
            for path in synced.written:
                print(f"{where} {path}: written")
            for path, why in synced.failed.items():
                print(f"{where} {path}: left as it is: {why}")
            failed += len(synced.failed)
        if failed:
            raise CommandError(f"{failed} files could not be read in.")

    def _people(self, name: str | None) -> list[User]:
        with as_system():
            if name is None:
                return list(User.objects.filter(hidden_at__isnull=True).order_by("pk"))
            try:
                return [users.find(name)]
            except ApplicationError as error:
                raise CommandError(error.message) from error
