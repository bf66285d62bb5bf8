from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ops.access import as_system
from ops.disk import cluster, disk_erasure
from ops.queue.worker import run_until_done


class Command(BaseCommand):
    help = "Erase forgotten data from the files of the data folder now."

    def handle(self, *args: Any, **options: Any) -> None:
        if not cluster.is_cluster_local():
            raise CommandError("The database's files are not in the data folder.")
        with as_system():
            operation = disk_erasure.request()
        run_until_done(operation)
        result = operation.result
        self.stdout.write(
            f"{result['receipts']} receipts, {result.get('files', 0)} files,"
            f" {result.get('bytes', 0)} bytes, {result.get('found', 0)} found"
        )
