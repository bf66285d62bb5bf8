from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memcenter.lib.errors import ApplicationError
from ops.access import as_system
from ops.accounts import roles
from ops.audit import acting_user
from ops.models import User

NOBODY = "none"


class Command(BaseCommand):
    help = "Make a login a member of the staff: auditor, operator or owner; or none."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("role", choices=[*(one.value for one in roles.Role), NOBODY])

    def handle(self, *args: Any, **options: Any) -> None:
        role = None if options["role"] == NOBODY else roles.Role(options["role"])
        try:
            with as_system(), acting_user.acting("operator", "command"):
                user = User.objects.filter(username=options["username"]).first()
                if user is None:
                    raise CommandError(f"There is no login {options['username']}.")
                roles.give(user, role)
        except ApplicationError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"{options['username']}: {options['role']}")
