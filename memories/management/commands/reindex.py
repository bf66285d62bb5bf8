from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from foundation.errors import ProviderError
from memories.indexing import reindexing
from ops.queue.worker import run_until_done


class Command(BaseCommand):
    help = "Embed all texts with the configured embedder, then use the new vectors for search."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--wait", action="store_true", help="run in this process instead of the worker"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            operation = reindexing.request()
        except ProviderError as error:
            raise CommandError(str(error)) from error
        print(operation.public_id)
        if options["wait"]:
            run_until_done(operation)
            print(f"{operation.result['embedded']} texts embedded")
