from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ops.access import as_system
from ops.models import AuditEvent, Receipt
from ops.services import audit


class Command(BaseCommand):
    help = "Follow the chain of the audit log and the receipts; fails at the first break."

    def handle(self, *args: Any, **options: Any) -> None:
        with as_system():
            broken = audit.first_break()
            events, receipts = AuditEvent.objects.count(), Receipt.objects.count()
        if broken is not None:
            raise CommandError(f"The chain breaks at {broken}.")
        what = f"{events} event{'s' * (events != 1)} and {receipts} receipt{'s' * (receipts != 1)}"
        self.stdout.write(f"{what} hold together.")
