from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from conversations.importing import file_import
from conversations.importing.formats.file_rows import Format
from foundation.errors import ApplicationError
from ops.access import as_system, as_user
from ops.accounts import users
from ops.models import Import
from ops.queue.worker import wait_until_done


class Command(BaseCommand):
    help = "Import a file for a user. The user is created if necessary."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="the user's external id")
        parser.add_argument("path", type=Path)
        parser.add_argument("--format", choices=[one.value for one in Format], default="")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            row = self._request(options)
        except OSError as error:
            raise CommandError(f"{options['path']}: {error.strerror}") from error
        except ApplicationError as error:
            raise CommandError(error.message) from error
        wait_until_done(row.operation)
        row.refresh_from_db()
        report = row.report
        for name in ("conversations", "messages", "memories", "already_there"):
            self.stdout.write(f"{name.replace('_', ' ')}: {report[name]:,}")
        for one in report["skipped"]:
            self.stdout.write(f"left out: {one['where']}: {one['why']}")

    def _request(self, options: dict[str, Any]) -> Import:
        with as_system():
            user = users.find_or_create(users.check_external_id(options["user"]))
        with options["path"].open("rb") as file, as_user(user):
            return file_import.request(
                user=user,
                file=file,
                size=options["path"].stat().st_size,
                format=options["format"],
                actor="operator",
                surface="command",
            )
