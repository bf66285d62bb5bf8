"""What is collected: one stylesheet with everything that it imports, by the name of its content."""

import json
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings

from memcenter.static_files import STYLESHEET
from tests.live import ROOT

IMPORTED = re.findall(r'url\("(.+?)"\)', (ROOT / "static" / STYLESHEET).read_text())


@pytest.fixture
def collected(settings: Settings, tmp_path: Path) -> str:
    """The served stylesheet."""
    settings.STATIC_ROOT = tmp_path
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "memcenter.static_files.StaticFilesStorage"},
    }
    for _ in range(2):  # again into the same folder, as after a change
        call_command("collectstatic", interactive=False, verbosity=0)
    names = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]
    assert (tmp_path / f"{names[STYLESHEET]}.gz").exists()
    return (tmp_path / str(names[STYLESHEET])).read_text()


def test_nothing_is_imported_and_nothing_is_lost(collected: str) -> None:
    assert "@import" not in collected
    assert len(IMPORTED) > 20
    folder = (ROOT / "static" / STYLESHEET).parent
    assert [one for one in IMPORTED if (folder / one).read_text() not in collected] == []


def test_the_layers_keep_their_order(collected: str) -> None:
    first = re.search(r"@layer [^{]+;", collected)
    assert first and first[0] == "@layer tokens, base, layout, components, utilities;"
    assert collected.count("{") == collected.count("}")


def test_imported_files_name_no_others() -> None:
    """Their addresses would mean something else in the stylesheet that has them."""
    folder = (ROOT / "static" / STYLESHEET).parent
    assert [one for one in IMPORTED if "url(" in (folder / one).read_text()] == []
