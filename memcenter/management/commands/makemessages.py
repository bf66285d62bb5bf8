import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.commands import makemessages

from conversations.importing.formats.values import SkipReason
from ops.admin.base import names_in_admin

_RAISED = {
    *("ApplicationError", "BadPath", "Conflict", "Invalid", "NotAllowed", "NotFound"),
    *("Unreachable", "UnconfirmedEdit", "field", "_refused"),
}
_FOR_PROGRAMS = {"api", "rest", "mem0"}
_APPS = ("memcenter", "ops", "conversations", "memories", "foundation")


class Command(makemessages.Command):
    help = "Like Django's command, but also extracts the error messages of services."

    def handle(self, *args: Any, **options: Any) -> None:
        gathered = settings.BASE_DIR / "memcenter" / "said_by_services.py"
        lines = [f"gettext_noop({text!r})\n" for text in sorted(set(service_error_messages()))]
        gathered.write_text("".join(lines), encoding="utf-8")
        try:
            super().handle(*args, **options)
        finally:
            gathered.unlink()


def service_error_messages() -> Iterator[str]:
    """Yield the error messages that the services of all apps raise, for translation.

    Messages with inserted values are left out, since they can't be translated. Also yield the
    reasons for skipping parts of an imported file, and the names of models and columns, which the
    admin shows.
    """
    for app in _APPS:
        for path in sorted((settings.BASE_DIR / app).rglob("*.py")):
            if not _FOR_PROGRAMS & set(path.relative_to(settings.BASE_DIR).parts):
                yield from _raised_in(path)
    yield from SkipReason
    yield from names_in_admin()


def _raised_in(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {ast.unparse(n.targets[0]): n.value for n in tree.body if isinstance(n, ast.Assign)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name_of(node.func) in _RAISED:
            # The first argument of Invalid.field is the field's name.
            given = node.args[1:2] if _name_of(node.func) == "field" else node.args[:1]
            for text in (constants.get(ast.unparse(one), one) for one in given):
                if isinstance(text, ast.Constant) and isinstance(text.value, str) and text.value:
                    yield text.value


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
