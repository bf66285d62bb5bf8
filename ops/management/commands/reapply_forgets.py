from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ops.access import as_system
from ops.models import Status
from ops.services import reapplying, worker


class Command(BaseCommand):
    help = "After restoring a backup: erase again all that was forgotten since it was made."

    def handle(self, *args: Any, **options: Any) -> None:
        operations = list(reapplying.reapply())
        worker.drain()
        failed = 0
        for operation in operations:
            with as_system():
                operation.refresh_from_db()
            failed += operation.status != Status.SUCCEEDED
            self.stdout.write(f"{operation.public_id} {operation.kind} {operation.status}")
        self.stdout.write(f"{len(operations)} forgotten again")
        if failed:
            raise CommandError(f"{failed} are not erased yet; the worker tries again.")
