import shutil
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from foundation.errors import ApplicationError
from ops.access import as_user
from ops.accounts import users
from ops.queue.worker import wait_until_done
from ops.transfer import exports, stored_files


class Command(BaseCommand):
    help = "Export all data of a user to a file."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="the user's external id")
        parser.add_argument("output", type=Path, help="the file to write; it must not exist")
        parser.add_argument("--format", choices=exports.FORMATS, default=exports.FORMATS[0])

    def handle(self, *args: Any, **options: Any) -> None:
        output: Path = options["output"]
        if output.exists():
            raise CommandError(f"{output} is there already.")
        try:
            user = users.find(options["user"])
            with as_user(user):
                export = exports.request_export(
                    user=user, format=options["format"], actor="operator", surface="command"
                )
        except ApplicationError as error:
            raise CommandError(error.message) from error
        wait_until_done(export.operation)
        export.refresh_from_db()
        with stored_files.storage_of(stored_files.EXPORTS).open(export.path) as source:
            output.touch(mode=0o600)
            with output.open("wb") as sink:
                shutil.copyfileobj(source, sink)
        self.stdout.write(f"{output}: {export.bytes:,} bytes, SHA-256 {export.sha256}")
