from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from foundation.errors import ApplicationError
from ops import audit_log
from ops.access import as_system
from ops.accounts import users
from ops.models import Role, User


class Command(BaseCommand):
    help = "Set the role of a login: owner, auditor (can view the admin) or member."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("role", choices=[role.value for role in Role])

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with as_system(), audit_log.use_actor("operator", "command"):
                user = User.objects.filter(username=options["username"]).first()
                if user is None:
                    raise CommandError(f"There is no login {options['username']}.")
                users.give_role(user, Role(options["role"]))
        except ApplicationError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"{options['username']}: {options['role']}")
