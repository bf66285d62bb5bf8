from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from foundation.errors import ApplicationError
from ops.access import as_system, as_user
from ops.accounts import users
from ops.forgetting import person_forgets
from ops.queue.worker import run_until_done


class Command(BaseCommand):
    help = "Forget all data of a user, including the account."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the external id of the user")
        parser.add_argument(
            "--wait", action="store_true", help="erase in this process instead of the worker"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with as_system():
                user = users.find(options["user"])
            with as_user(user, changing=True):
                operation, token = person_forgets.forget_user(user=user)
        except ApplicationError as error:
            raise CommandError(error.message) from error
        print(f"{operation.public_id} {token}")
        if options["wait"]:
            run_until_done(operation, undone="Not erased yet")
            print("erased")
