from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memories.services import moving
from ops.access import as_system
from ops.models import Operation, Status
from ops.services import worker

_OVER = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)


class Command(BaseCommand):
    help = "Have vectors searched where MEMCENTER_VECTOR_STORE says: in Milvus, or in PostgreSQL."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--wait", action="store_true", help="do it here, without the worker")
        parser.add_argument(
            "--afresh", action="store_true", help="fill Milvus anew, as after a restore"
        )
        parser.add_argument(
            "--lost", action="store_true", help="back from a Milvus that is gone for good"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        operation = moving.request(afresh=options["afresh"], lost=options["lost"])
        print(operation.public_id)
        if options["wait"]:
            self._wait(operation)

    def _wait(self, operation: Operation) -> None:
        while self._refreshed(operation).status not in _OVER and worker.drain(limit=1):
            continue
        if self._refreshed(operation).status != Status.SUCCEEDED:
            raise CommandError(f"Not done yet: {operation.last_error or operation.status}")
        print(f"{operation.result['moved']} vectors, searched in {operation.payload['to']}")

    def _refreshed(self, operation: Operation) -> Operation:
        with as_system():
            operation.refresh_from_db()
        return operation
