from typing import Any

from django.core.management.base import BaseCommand

from ops.access import as_system
from ops.audit import acting_user
from ops.webhooks import held_deliveries


class Command(BaseCommand):
    help = "After restoring a backup: let this instance tell webhooks again."

    def handle(self, *args: Any, **options: Any) -> None:
        with as_system(), acting_user.acting("operator", "command"):
            resumed = held_deliveries.resume()
        if resumed:
            self.stdout.write("Webhooks are told again, also of what waited.")
        else:
            self.stdout.write("Nothing was held.")
