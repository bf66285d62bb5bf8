from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from foundation.errors import ApplicationError
from ops.access import as_system
from ops.accounts import keys, users
from ops.models import Scope

_DEFAULT = "read,write,forget,export,signin"


class Command(BaseCommand):
    help = "Create an API key and print it. It can't be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", help="bind the key to the user with this external id")
        parser.add_argument("--scopes", default=_DEFAULT, help=", ".join(Scope.values))
        parser.add_argument("--name", default="made at the command line")
        parser.add_argument(
            "--requires-user",
            action="store_true",
            help="refuse mem0 calls without a user; other calls always need one",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        scopes = [word.strip() for word in options["scopes"].split(",") if word.strip()]
        try:
            with as_system():
                user = users.find(options["user"]) if options["user"] else None
                _, text = keys.create(
                    name=options["name"],
                    scopes=scopes,
                    user=user,
                    requires_user=options["requires_user"],
                )
        except ApplicationError as error:
            raise CommandError(error.message) from error
        print(text)
