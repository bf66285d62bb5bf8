import getpass
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from foundation.errors import Invalid
from ops import audit_log
from ops.access import as_system
from ops.accounts import users
from ops.models import User


class Command(BaseCommand):
    """Replaces Django's command of this name, which bypasses the audit log and the ledger."""

    help = "Change the password of a login and end its sessions."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        username = options["username"]
        with as_system():
            user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no login {username}.")
        password = getpass.getpass(f"New password of {username}: ")
        if password != getpass.getpass("The same password again: "):
            raise CommandError("The passwords differ; nothing was changed.")
        try:
            with as_system(), audit_log.use_actor("operator", "command"):
                users.change_password(user=user, password=password)
        except Invalid as error:
            raise CommandError(" ".join(error.fields["password"])) from error
        self.stdout.write(f"{username}: the new password is valid from now on")
