"""`docs/configuration.md` and the code know the same settings, with the same defaults."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from foundation import env
from tests.live import ROOT

PAGE = ROOT / "docs" / "configuration.md"
SETTINGS = ROOT / "memcenter" / "settings.py"
PACKAGES = ("memcenter", "ops", "conversations", "memories", "foundation")
READERS = {"text", "integer", "number", "flag", "choice", "words", "options", "pairs", "database"}
# Read as plain environment variables: they aren't ours alone.
UNREAD = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
_ROW = re.compile(r"^\| `([A-Z_]+)` \| (.+?) \| (.+?) \|$", re.MULTILINE)


def documented() -> dict[str, str]:
    """Each setting with its default, as the page gives it."""
    return {name: default for name, default, _ in _ROW.findall(PAGE.read_text(encoding="utf-8"))}


def sources() -> Iterator[Path]:
    yield ROOT / "manage.py"
    for package in PACKAGES:
        yield from (ROOT / package).rglob("*.py")


def reads(path: Path) -> Iterator[tuple[str, object]]:
    """Every setting that a file reads, with its default; None where that is worked out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and _is_reader(node.func) and node.args:
            name, *rest = node.args
            if isinstance(name, ast.Constant):
                default = rest[0] if rest else ast.Constant(None)
                yield str(name.value), default.value if isinstance(default, ast.Constant) else None


def fixed_defaults() -> dict[str, object]:
    """Those that hold as they stand; `manage.py` fills in others from the data folder."""
    filled_in = {"REDIS_URL", "MEMCENTER_SECRET_KEY"}
    found = dict(reads(SETTINGS))
    return {
        name: default
        for name, default in found.items()
        if default is not None and name not in filled_in
    }


def _is_reader(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "env"
        and function.attr in READERS
    )


def test_the_readers_that_are_looked_for_are_all_there_are() -> None:
    public = {
        name
        for name, thing in vars(env).items()
        if callable(thing) and not name.startswith("_") and thing.__module__ == env.__name__
    }
    assert public - {"BadSetting"} == READERS


def test_every_setting_is_documented() -> None:
    read = {name for path in sources() for name, _ in reads(path)}
    assert len(read) > 30
    assert read - set(documented()) == set()


def test_every_documented_setting_exists() -> None:
    read = {name for path in sources() for name, _ in reads(path)}
    assert set(documented()) - read == UNREAD


def test_no_setting_is_documented_twice() -> None:
    names = [name for name, _, _ in _ROW.findall(PAGE.read_text(encoding="utf-8"))]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("name", "default"), sorted(fixed_defaults().items()))
def test_the_documented_default_is_the_one_in_the_code(name: str, default: object) -> None:
    shown = str(default).lower() if isinstance(default, bool) else str(default)
    assert documented()[name] == f"`{shown}`"
