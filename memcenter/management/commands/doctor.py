import signal
import sys
from typing import Any

from django.core.management.base import BaseCommand

from memcenter import doctor


class Command(BaseCommand):
    help = "Tell what is wrong here and what to do about it; exit with 1 if something is."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        # Stopped politely, it stops the databases that it started.
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
        wrong = 0
        for found in doctor.examine():
            wrong += found.is_wrong
            self._say(found.state, found.subject, found.text)
            if found.advice:
                self._say("", "", f"What to do: {found.advice}")
        if wrong:
            self.stdout.write(f"\n{wrong} {'thing is' if wrong == 1 else 'things are'} wrong.")
            sys.exit(1)
        self.stdout.write("\nNothing is wrong.")

    def _say(self, state: str, subject: str, text: str) -> None:
        self.stdout.write(f"{state:6} {subject:12} {text}")
        self.stdout.flush()
