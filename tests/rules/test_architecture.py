"""The contracts of import-linter know every package of the apps, memcenter and foundation."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INTERFACES = {"admin", "api", "apps", "management", "pages", "templatetags", "urls"}


def contract(name: str) -> dict[str, list[str]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return next(each for each in settings["contracts"] if each["name"].startswith(name))


def modules_of(app: str) -> set[str]:
    files = (path.relative_to(ROOT / app) for path in (ROOT / app).rglob("*.py"))
    names = {path.parts[0].removesuffix(".py") for path in files}
    return names - {"__init__", "__pycache__", "migrations"}


RUNNER = {"memcenter.__main__", "memcenter.command_line", "memcenter.management"}
ABOVE = {"compat", "mcp"}  # protocols: packages of memcenter that use the apps
BELOW = {"middleware", "rest", "settings"}  # used by the apps
# Neither: the apps don't import them.
PROJECT = {
    *("apps", "beat", "celery", "formats", "monitoring", "static_files", "urls", "web"),
    *("wsgi", "__main__", "command_line", "management"),
}


@pytest.mark.parametrize("app", ["conversations", "memories", "ops"])
def test_no_package_of_use_cases_may_import_an_interface(app: str) -> None:
    checked = contract("Use cases don't know")
    use_cases = {f"{app}.{name}" for name in modules_of(app) - INTERFACES}
    interfaces = {f"{app}.{name}" for name in modules_of(app) & INTERFACES}
    assert use_cases <= set(checked["source_modules"])
    assert interfaces <= set(checked["forbidden_modules"])


def test_every_module_of_memcenter_is_above_the_apps_below_them_or_unknown_to_them() -> None:
    assert modules_of("memcenter") == ABOVE | BELOW | PROJECT
    below = contract("Below the apps")
    assert set(below["source_modules"]) == {f"memcenter.{name}" for name in BELOW}
    assert {f"memcenter.{name}" for name in ABOVE} <= set(below["forbidden_modules"])
    unknown = contract("Use cases don't know")["forbidden_modules"]
    assert {f"memcenter.{name}" for name in ABOVE} <= set(unknown)
    tops = r"^ *(?:from|import) memcenter\.(\w+)"
    for app in ("conversations", "memories", "ops", "foundation"):
        for path in (ROOT / app).rglob("*.py"):
            imported = set(re.findall(tops, path.read_text(), re.MULTILINE))
            assert imported <= BELOW, path


def test_every_module_of_memcenter_and_foundation_but_the_runner_starts_no_database() -> None:
    named = set(contract("Only the runner")["source_modules"])
    every = {f"{app}.{name}" for app in ("memcenter", "foundation") for name in modules_of(app)}
    assert every - RUNNER - {"foundation.embedded"} == {
        name for name in named if name.startswith(("memcenter.", "foundation."))
    }


def test_the_foundation_knows_no_app() -> None:
    checked = contract("The foundation knows")
    assert checked["source_modules"] == ["foundation"]
    assert set(checked["forbidden_modules"]) == {"memcenter", "ops", "conversations", "memories"}
