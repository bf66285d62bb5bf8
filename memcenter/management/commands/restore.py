import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from foundation import paths
from foundation.embedded import backup
from foundation.embedded.backup import configured_instance, migrate_if_needed
from foundation.embedded.folder import DataFolder, FolderBusy
from ops.access import as_system
from ops.models import SignInLink
from ops.queue import webhook_events


class Command(BaseCommand):
    help = "Restore a backup, migrate it, and repeat all requests to forget since then."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="replace the existing data")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            where = configured_instance()
            with _nothing_runs(where.data):
                connection.close()
                manifest = backup.read(options["file"], where=where, replace=options["replace"])
                migrate_if_needed(backup_first=False)  # the backup being restored still exists
                cache.clear()  # its content belongs to the replaced data
                with as_system():
                    webhook_events.hold_deliveries()
                    SignInLink.objects.all().delete()
                call_command("reapply_forgets", stdout=self.stdout)
        except (backup.BackupError, FolderBusy) as error:
            raise CommandError(str(error)) from error
        if manifest["secret_key_differs"]:
            self.stdout.write(_take_key(where.data, manifest["secret_key"]))
        self.stdout.write(f"restored what was there at {manifest['made_at']}")
        self.stdout.write(
            f"Nothing is sent to webhooks until you run: {paths.program_name()} resumedeliveries"
        )


@contextlib.contextmanager
def _nothing_runs(data: Path) -> Iterator[None]:
    if not (data / "secrets.json").exists():
        yield
        return
    with DataFolder(data).lock("serve", wait=False):
        yield


def _take_key(data: Path, key: str) -> str:
    """Restore the secret key that signs sessions and hashes; return a message for the operator.

    If a setting defines the secret key, write the backup's key to a file instead; the message then
    asks the operator to change the setting.
    """
    file = data / "secrets.json"
    if file.exists() and DataFolder(data).secrets.secret_key == settings.SECRET_KEY:
        folder = DataFolder(data)
        taken = replace(folder.secrets, secret_key=key)
        folder.write_private(file, json.dumps(asdict(taken), indent=1) + "\n")
        return "The key of sessions is the backup's again."
    kept = data / "restored-secret-key"
    kept.touch(mode=0o600)
    kept.write_text(key, encoding="utf-8")
    return f"The backup was signed with another MEMCENTER_SECRET_KEY: set it to what {kept} holds."
