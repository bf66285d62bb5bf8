from typing import Any

from django.core.management.base import BaseCommand

from ops import audit_log
from ops.access import as_system
from ops.queue import webhook_events


class Command(BaseCommand):
    help = "After restoring a backup: resume webhook deliveries."

    def handle(self, *args: Any, **options: Any) -> None:
        with as_system(), audit_log.use_actor("operator", "command"):
            resumed = webhook_events.resume_deliveries()
        if resumed:
            self.stdout.write(
                "Webhook deliveries are resumed, including those that were held back."
            )
        else:
            self.stdout.write("No deliveries were held back.")
