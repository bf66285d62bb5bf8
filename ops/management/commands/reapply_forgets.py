from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ops import ledger
from ops.access import as_system
from ops.forgetting import person_forgets
from ops.models import Status
from ops.queue import webhook_events, worker


class Command(BaseCommand):
    help = (
        "After restoring a backup: repeat all requests to forget, revocations and removals since."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--at-start",
            action="store_true",
            help="repeat only requests that the database lacks; the worker erases",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        is_older = person_forgets.is_older_than_ledger()
        decided = ledger.reapply_decisions()
        forgets_again = is_older or not options["at_start"]
        operations = list(person_forgets.reapply_forgets()) if forgets_again else []
        if is_older or decided or operations:
            with as_system():
                webhook_events.hold_deliveries()
        if decided:
            self.stdout.write(f"{decided} decisions applied again (keys, passwords, switches …)")
        if not options["at_start"]:
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
