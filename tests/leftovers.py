"""Files and Redis keys that a test leaves: no transaction rolls them back."""

import shutil
from pathlib import Path

from django.conf import settings
from redis import Redis

from tests import databases


def remove_files_and_keys() -> None:
    for name in ("exports", "imports", "files", "parts", "memory-files"):
        shutil.rmtree(Path(settings.DATA_DIR) / name, ignore_errors=True)
    if databases.redis_server.is_running():
        with Redis.from_url(databases.redis_server.url()) as client:
            client.flushdb()
