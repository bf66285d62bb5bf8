from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memcenter.lib.errors import ProviderError
from memories.services import reindexing
from ops.access import as_system
from ops.models import Operation, Status
from ops.services import worker

_OVER = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)


class Command(BaseCommand):
    help = "Embed everything by the embedder that the settings name, and search that from then on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--wait", action="store_true", help="do it here, without the worker")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            operation = reindexing.request()
        except ProviderError as error:
            raise CommandError(str(error)) from error
        print(operation.public_id)
        if options["wait"]:
            self._wait(operation)

    def _wait(self, operation: Operation) -> None:
        while self._refreshed(operation).status not in _OVER and worker.drain(limit=1):
            continue
        if self._refreshed(operation).status != Status.SUCCEEDED:
            raise CommandError(f"Not done yet: {operation.last_error or operation.status}")
        print(f"{operation.result['embedded']} texts embedded")

    def _refreshed(self, operation: Operation) -> Operation:
        with as_system():
            operation.refresh_from_db()
        return operation
