from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from foundation.embedded import backup
from foundation.embedded.backup import configured_instance


class Command(BaseCommand):
    help = "Back up the database, stored files and the secret key to one file."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file to write; it must not exist")

    def handle(self, *args: Any, **options: Any) -> None:
        target: Path = options["file"]
        try:
            backup.write(target, where=configured_instance())
        except backup.BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{target}: {target.stat().st_size:,} bytes. It holds what people said.")
