import contextlib
import hashlib
import io
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.core.wsgi import get_wsgi_application
from django.db import OperationalError, connection, connections
from django.urls import get_resolver

from foundation import env, paths
from foundation.embedded.backup import migrate_if_needed
from foundation.embedded.databases import Instance
from foundation.embedded.folder import DataFolder, EmbeddedError, plain_errors
from foundation.embedded.supervisor import Address, Supervisor
from memcenter.celery import app as celery
from memories.language_steps import preload

_LINES = """
  Memory Center  {address}

{login}  Data 数据      {folder}
  Stop 停止      Ctrl-C
"""
_LOGIN = """\
  Login 登录     {login}
  Password 密码  {password}
  API key 密钥   {api_key}

"""

# Modules that the programs import at startup. They are imported before the fork, so that all
# programs share one copy in memory.
_OF_PROGRAMS = (
    *("celery.apps.worker", "celery.apps.beat", "celery.concurrency.prefork"),
    *(
        "celery.worker.consumer",
        "celery.worker.loops",
        "celery.worker.pidbox",
        "celery.events.receiver",
    ),
    *("billiard.popen_fork", "billiard.synchronize", "kombu.transport.redis"),
    *("granian.cli", "granian.server.mp", "django.conf.urls.i18n"),
)


class Command(BaseCommand):
    help = "Run databases, web server, worker and beat until Ctrl-C."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            folder = DataFolder(settings.DATA_DIR)
            if not env.text("REDIS_URL"):
                raise EmbeddedError(
                    "DATABASE_URL is set and REDIS_URL is not; set both or neither."
                )
            embedded = env.text("DATABASE_URL") == Instance(folder).postgres.url("app")
            Supervisor(
                folder,
                address=Address.configured(),
                embedded=embedded,
                prepare=lambda: _prepare(folder, embedded=embedded),
                announce=lambda: self._say(_announcement(folder)),
            ).run()
        except EmbeddedError as error:
            sys.exit(str(error))
        except OperationalError as error:  # a full disk, for example
            first = str(error).strip().splitlines()[0]
            doctor = f"`{paths.program_name()} doctor` says what to do."
            sys.exit(f"PostgreSQL fails ({first}). {doctor}")

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()  # a pipe's reader would have to wait otherwise


@plain_errors("Memory Center can't be started")
def _prepare(folder: DataFolder, *, embedded: bool) -> None:
    migrate_if_needed(meanwhile=lambda: _collect_static(folder), backup_first=embedded)
    _make_first_login(folder)
    # A data folder restored from a copy may be older than the ledger.
    call_command("reapply_forgets", at_start=True)
    get_resolver().url_patterns  # noqa: B018  imports all views
    for name in _OF_PROGRAMS:
        import_module(name)
    celery.finalize()
    get_wsgi_application()  # imports the middleware
    # Celery's own checks would write to most of the memory that the forks share. `make test` runs
    # these checks.
    os.environ["CELERY_SKIP_CHECKS"] = "1"
    preload()
    # The programs are forks of this process, which must have no open connections.
    connections.close_all()


def _collect_static(folder: DataFolder) -> None:
    marker = folder.path / "static.sha256"
    # The names of these folders contain the versions of the packages.
    files = sorted(Path(django.__file__).parents[1].glob("*.dist-info"))
    for source in settings.STATICFILES_DIRS:
        files += sorted(path for path in Path(source).rglob("*") if path.is_file())
    stamps = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in files]
    wanted = hashlib.sha256(repr((settings.STORAGES, stamps)).encode()).hexdigest()
    if marker.exists() and marker.read_text(encoding="utf-8") == wanted:
        return
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    folder.write_private(marker, wanted)


def _make_first_login(folder: DataFolder) -> None:
    if folder.first_login.exists():
        return
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        call_command("firstrun", stdout=printed)
    # The supervisor must not keep a database session open for days.
    connection.close()
    login = json.loads(printed.getvalue())
    if login:
        folder.write_private(folder.first_login, json.dumps(login))


def _announcement(folder: DataFolder) -> str:
    login = ""
    if folder.first_login.exists():
        login = _LOGIN.format(**json.loads(folder.first_login.read_text(encoding="utf-8")))
    is_below = folder.path.is_relative_to(Path.cwd())
    shown = os.path.relpath(folder.path) if is_below else folder.path
    return _LINES.format(address=settings.PUBLIC_URL, login=login, folder=shown)
