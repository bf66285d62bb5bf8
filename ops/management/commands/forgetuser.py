from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memcenter.lib.errors import ApplicationError
from ops.access import as_system, as_user
from ops.models import Operation, Status
from ops.services import forgetting, users, worker

_OVER = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)


class Command(BaseCommand):
    help = "Forget everything of one user, and the account itself."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the external id of the user")
        parser.add_argument(
            "--wait", action="store_true", help="erase here and now, without the worker"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with as_system():
                user = users.find(options["user"])
            with as_user(user):
                operation, token = forgetting.forget_user(user=user)
        except ApplicationError as error:
            raise CommandError(error.message) from error
        print(f"{operation.public_id} {token}")
        if options["wait"]:
            self._wait(operation)

    def _wait(self, operation: Operation) -> None:
        """Forgetting is claimed first, so this does little else on its way."""
        while self._refreshed(operation).status not in _OVER and worker.drain(limit=1):
            continue
        if self._refreshed(operation).status != Status.SUCCEEDED:
            raise CommandError(f"Not erased yet: {operation.last_error or operation.status}")
        print("erased")

    def _refreshed(self, operation: Operation) -> Operation:
        with as_system():
            operation.refresh_from_db()
        return operation
