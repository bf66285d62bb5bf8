from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from memories.indexing import milvus_sync
from ops.queue.worker import run_until_done


class Command(BaseCommand):
    help = "Move the vector search to MEMCENTER_VECTOR_STORE: Milvus or PostgreSQL."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--wait", action="store_true", help="run in this process instead of the worker"
        )
        parser.add_argument(
            "--afresh", action="store_true", help="fill Milvus again, for example after a restore"
        )
        parser.add_argument(
            "--lost", action="store_true", help="go back to PostgreSQL when Milvus is lost"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        operation = milvus_sync.request_move(afresh=options["afresh"], lost=options["lost"])
        print(operation.public_id)
        if options["wait"]:
            run_until_done(operation)
            print(f"{operation.result['moved']} vectors, searched in {operation.payload['to']}")
