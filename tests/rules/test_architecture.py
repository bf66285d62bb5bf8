"""The contracts of import-linter know every package of the apps."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INTERFACES = {"admin", "api", "apps", "management", "pages", "templatetags", "urls"}


def contract(name: str) -> dict[str, list[str]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return next(each for each in settings["contracts"] if each["name"].startswith(name))


def modules_of(app: str) -> set[str]:
    names = {path.stem for path in (ROOT / app).iterdir() if path.suffix in ("", ".py")}
    return names - {"__init__", "__pycache__", "migrations"}


@pytest.mark.parametrize("app", ["conversations", "memories", "ops"])
def test_no_package_of_use_cases_may_import_an_interface(app: str) -> None:
    checked = contract("Use cases don't know")
    use_cases = {f"{app}.{name}" for name in modules_of(app) - INTERFACES}
    interfaces = {f"{app}.{name}" for name in modules_of(app) & INTERFACES}
    assert use_cases <= set(checked["source_modules"])
    assert interfaces <= set(checked["forbidden_modules"])
