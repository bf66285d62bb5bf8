from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ops import audit_log
from ops.access import as_system
from ops.accounts import sign_ins
from ops.models import User


class Command(BaseCommand):
    help = "Disable the second sign-in step of a login that lost its device and recovery codes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        with as_system(), audit_log.use_actor("operator", "command"):
            user = User.objects.filter(username=options["username"]).first()
            if user is None or not sign_ins.turn_off_second_factor(user):
                raise CommandError(f"There is no login {options['username']} with a second step.")
        self.stdout.write(f"{options['username']}: signing in needs only the password again")
