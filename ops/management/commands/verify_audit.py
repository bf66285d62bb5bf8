from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ops import audit_chain
from ops.access import as_system
from ops.models import AuditEvent, Receipt


class Command(BaseCommand):
    help = "Verify the chain of the audit log and the receipts. Fail at the first mismatch."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seal", action="store_true", help="first seal pending events")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["seal"]:
            audit_chain.seal()
        with as_system():
            broken, tail = audit_chain.first_break(), audit_chain.tail()
            events, receipts = AuditEvent.objects.count(), Receipt.objects.count()
        if broken is not None:
            raise CommandError(f"The chain breaks at {broken}.")
        counts = f"{_count(events - tail.count, 'event')} and {_count(receipts, 'receipt')}"
        waiting = f"{_count(tail.count, 'event')} from event {tail.first} on"
        rest = f" Not sealed yet: {waiting}." if tail.count else ""
        self.stdout.write(f"{counts} hold together.{rest}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
