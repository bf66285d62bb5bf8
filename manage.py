#!/usr/bin/env python
"""Run a Django command, with the databases of the data folder where no others are given."""

import contextlib
import os
import signal
import sys
import warnings
from pathlib import Path

from memcenter.lib import env

AS_OWNER = {"makemigrations", "migrate", "optimizemigration", "sqlmigrate", "squashmigrations"}
BEFORE_MIGRATIONS = AS_OWNER | {"restore", "showmigrations"}
# `serve` starts its databases itself.
WITHOUT_DATABASE = {
    "check",
    "collectstatic",
    "compilemessages",
    "diffsettings",
    "findstatic",
    "help",
    "makemessages",
    "serve",
    "spectacular",
    "version",
}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    with contextlib.ExitStack() as stack:
        if not env.text("DATABASE_URL"):
            _use_data_folder(command, stack)
        if command in AS_OWNER and env.text("MEMCENTER_OWNER_DATABASE_URL"):
            os.environ["MEMCENTER_AS_OWNER"] = "1"
        from django.core.management import execute_from_command_line

        execute_from_command_line(sys.argv)


def _use_data_folder(command: str, stack: contextlib.ExitStack) -> None:
    from memcenter.embedded.folder import DataFolder, EmbeddedError
    from memcenter.embedded.instance import Instance
    from memcenter.embedded.schema import migrate_if_needed

    if not _needs_database(command):
        # makemigrations looks whether the history in the database agrees, and warns without one.
        warnings.filterwarnings("ignore", message="Got an error checking a consistent migration")
        if command != "serve":
            return
    try:
        folder = DataFolder(os.environ.get("MEMCENTER_DATA_DIR") or Path(__file__).parent / ".data")
        instance = Instance(folder)
        os.environ.update(instance.environment())
        if _needs_database(command):
            signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
            migrate = None if command in BEFORE_MIGRATIONS else migrate_if_needed
            stack.enter_context(instance.borrowed(prepare=migrate))
    except EmbeddedError as error:
        sys.exit(str(error))


def _needs_database(command: str) -> bool:
    arguments = set(sys.argv[2:])
    if command.startswith("-") or arguments & {"-h", "--help"}:
        return False
    if command == "makemigrations" and arguments & {"--check", "--dry-run"}:
        return False
    return command not in WITHOUT_DATABASE or "--database" in arguments


if __name__ == "__main__":
    main()
