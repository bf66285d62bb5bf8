from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ops.access import as_system
from ops.accounts import second_factors
from ops.audit import acting_user
from ops.models import User


class Command(BaseCommand):
    help = "Switch off the second step of a login whose device and recovery codes are lost."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        with as_system(), acting_user.acting("operator", "command"):
            user = User.objects.filter(username=options["username"]).first()
            if user is None or not second_factors.turn_off(user):
                raise CommandError(f"There is no login {options['username']} with a second step.")
        self.stdout.write(f"{options['username']}: the password alone opens again")
