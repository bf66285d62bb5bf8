"""Code that tests and benches hand to another process as text uses only what exists.

The type checker and the import sorter do not read strings: a module that moves leaves them behind.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module, util
from pathlib import Path

from tests.live import ROOT

_FOLDERS = ("tests", "bench", "training", "integrations", "deploy")
_IMPORT = re.compile(
    r"^\s*from ((?:conversations|memcenter|memories|ops)(?:\.\w+)*) import ([\w, ]+)", re.MULTILINE
)


def test_every_name_imported_by_code_in_a_string_exists() -> None:
    found = list(_imports())
    assert len(found) > 50
    assert [
        f"{path}: {module}.{name}" for path, module, name in found if not _is(module, name)
    ] == []


def test_everything_that_code_in_a_string_uses_of_a_module_exists() -> None:
    used = {
        (path, f"{module}.{name}", attribute)
        for path, text in _texts()
        for module, names in _IMPORT.findall(text)
        for name in (one.strip() for one in names.split(","))
        for attribute in re.findall(rf"(?<![.\w]){name}\.(\w+)", text)
        if util.find_spec(module) and _is_module(f"{module}.{name}")
    }
    assert len(used) > 30
    assert [one for one in used if not _is(*one[1:])] == []


def test_a_name_that_does_not_exist_is_noticed() -> None:
    assert _is("ops.accounts", "registration")
    assert not _is("ops.accounts", "signin_links")
    assert not _is("ops.nowhere", "users")


def _imports() -> Iterator[tuple[Path, str, str]]:
    for path, text in _texts():
        for module, names in _IMPORT.findall(text):
            for name in names.split(","):
                yield path, module, name.split(" as ")[0].strip()


def _texts() -> Iterator[tuple[Path, str]]:
    """Yield all strings; of one with fields, the text around them."""
    for path in (path for folder in _FOLDERS for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(
                one.value
                for one in parts
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
            )
            if text:
                yield path.relative_to(ROOT), text


def _is_module(name: str) -> bool:
    try:
        return util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _is(module: str, name: str) -> bool:
    try:
        return hasattr(import_module(module), name) or bool(util.find_spec(f"{module}.{name}"))
    except ModuleNotFoundError:
        return False
