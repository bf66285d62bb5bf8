"""The command line: `manage.py` and the console command `memcenter`.

Both programs run Django commands. If DATABASE_URL isn't set, the commands use the databases in the
data folder.
"""

import contextlib
import os
import signal
import sys
import warnings
from importlib import metadata

from foundation import env, paths
from foundation.embedded.folder import DataFolder, EmbeddedError

# Short names that the console command accepts.
ALIASES = {"up": "serve", "createkey": "createapikey"}
USAGE = """\
Memory Center: a self-hosted memory for AI chat.

Usage: memcenter COMMAND [options]

  up                 start everything, until Ctrl-C; PORT=8080 takes another port
  demo               add two example people and print their logins
  doctor             tell what is wrong here, and what to do about it
  createkey          print a new API key
  mcp                serve the MCP tools on stdin and stdout
  backup FILE        write everything into one file
  restore FILE       put a backup back, and forget again what was forgotten since

memcenter COMMAND --help tells more of one. The commands that the documentation runs by manage.py
work here as well: memcenter help --commands lists them.

All data is in {folder}
MEMCENTER_DATA_DIR takes another folder.
"""

AS_OWNER = {"makemigrations", "migrate", "optimizemigration", "sqlmigrate", "squashmigrations"}
BEFORE_MIGRATIONS = AS_OWNER | {"restore", "showmigrations"}
# `serve` and `doctor` start the databases themselves.
WITHOUT_DATABASE = {
    *("check", "collectstatic", "compilemessages", "diffsettings", "doctor", "findstatic"),
    *("help", "makemessages", "serve", "spectacular", "version"),
}


def main() -> None:
    """Run the console command `memcenter`."""
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if sys.argv[2:] == [] and command in {"help", "-h", "--help"}:
        sys.stdout.write(USAGE.format(folder=paths.data_folder()))
    elif command in {"version", "--version"}:
        sys.stdout.write(f"Memory Center {_version()}\n")
    else:
        sys.argv[1] = ALIASES.get(command, command)
        manage()


def manage() -> None:
    """Run the Django command given in `sys.argv`."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if command == "serve":
        _mark_as_supervisor()
        _set_defaults_for_agents()
    with contextlib.ExitStack() as stack:
        if not env.text("DATABASE_URL"):
            _use_data_folder(command, stack)
        if command in AS_OWNER and env.text("MEMCENTER_OWNER_DATABASE_URL"):
            os.environ["MEMCENTER_AS_OWNER"] = "1"
        from django.core.management import execute_from_command_line

        execute_from_command_line(sys.argv)


def _version() -> str:
    try:
        return metadata.version("memory-center")
    except metadata.PackageNotFoundError:
        return "(a checkout)"


def _mark_as_supervisor() -> None:
    """Re-execute this process with the data folder and the settings `_MEMORY` in its environment.

    Child processes inherit the environment. If they are left running, they can be found by the
    data folder in it. The process is re-executed because the kernel shows only the environment
    that a process started with, not later changes.
    """
    from foundation.embedded.child_processes import MARK

    folder = str(_data_folder().path)
    if os.environ.get(MARK) != folder:
        os.environ[MARK] = folder
        for name, value in _MEMORY.items():
            os.environ.setdefault(name, value)
        os.execv(sys.executable, sys.orig_argv)  # nosec


# Make glibc return freed memory to the kernel. Otherwise glibc keeps freed memory for each thread
# and for large arrays.
_MEMORY = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "131072",
    "MALLOC_TRIM_THRESHOLD_": "131072",
}


def _set_defaults_for_agents() -> None:
    """Set the default owner and project in the environment, unless they are already set.

    This function must run before Django's settings are loaded from the environment.
    """
    from foundation.embedded.databases import FOR_AGENTS

    for name, value in FOR_AGENTS.items():
        os.environ.setdefault(name, value)


def _use_data_folder(command: str, stack: contextlib.ExitStack) -> None:
    from foundation.embedded.backup import migrate_if_needed
    from foundation.embedded.databases import Instance

    if not _needs_database(command):
        # makemigrations checks the migration history and warns if it finds no database.
        warnings.filterwarnings("ignore", message="Got an error checking a consistent migration")
        if command != "serve":
            return
    folder = _data_folder()
    try:
        instance = Instance(folder)
        os.environ.update(instance.environment())
        if command == "mcp":  # with the same default owner and project as `serve`
            _set_defaults_for_agents()
        if _needs_database(command):
            signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
            migrate = None if command in BEFORE_MIGRATIONS else migrate_if_needed
            stack.enter_context(instance.borrowed(prepare=migrate))
    except EmbeddedError as error:
        sys.exit(str(error))


def _data_folder() -> DataFolder:
    try:
        return DataFolder(paths.data_folder())
    except EmbeddedError as error:
        sys.exit(f"{error} `{paths.program_name()} doctor` says what to do.")


def _needs_database(command: str) -> bool:
    arguments = set(sys.argv[2:])
    if command.startswith("-") or arguments & {"-h", "--help"}:
        return False
    if command == "makemigrations" and arguments & {"--check", "--dry-run"}:
        return False
    return command not in WITHOUT_DATABASE or "--database" in arguments
