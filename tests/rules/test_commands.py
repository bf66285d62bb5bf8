"""Every command that a page shows is typed: here, or by the test that is named beside it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import call_command
from django.test import Client

from ops.accounts import keys
from ops.models import Kind, Operation, Scope
from ops.queue import worker
from tests.killing import Kill, kill_at
from tests.live import ROOT
from tests.rules.test_readme import PAGES

pytestmark = pytest.mark.django_db
_BLOCK = re.compile(r"^```(?:sh|text)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BEGINNINGS = (
    *("make ", "curl ", "call ", "sh ", "docker ", "cp ", "psql ", "systemctl ", "manage.py "),
    *("memcenter ", "pipx "),
    *(".venv/bin/", "python", "MEMCENTER_HOSTNAME="),
)
# Commands that aren't typed here, by how they begin: the file that does it, or why nothing does.
ELSEWHERE = {
    "make up": "tests/foundation/embedded/test_serve.py",
    "memcenter up": "tests/memcenter/test_wheel.py",
    "python -m build": "asks a package index; tests/memcenter/test_wheel.py builds without one",
    "pipx install": "asks a package index; tests/memcenter/test_wheel.py installs without one",
    "make test": "what is running now",
    "make check": "what ran just before",
    "make integrations": "asks package indexes",
    "make clients": "asks a package index; tests/clients runs the Python one",
    ".venv/bin/python -m pytest": "what is running now",
    "python3 -m venv .venv-peer": "asks a package index; tests/peer tells whether it was done",
    "make bench": "measures for hours",
    ".venv/bin/python -m bench": "measures for hours",
    ".venv/bin/python bench/": "measures for minutes",
    "curl http://127.0.0.1:8000/": "tests/scenarios/test_readme.py",
    "curl -sS": "tests/scenarios/test_clients_page.py",
    "call ": "tests/scenarios/test_api_page.py",
    "sh deploy/make-secrets.sh": "tests/deploy/test_files.py",
    "MEMCENTER_HOSTNAME=memory.example.org docker compose": "tests/deploy/test_services.py",
    "docker compose exec": "asks for an engine",
    "docker compose run": "asks for an engine",
    "docker compose start": "asks for an engine",
    "docker compose stop": "asks for an engine",
    "cp deploy/systemd": "asks for the machine's own systemd",
    "systemctl enable": "asks for the machine's own systemd",
    "psql -d postgres": "tests/foundation/embedded/test_postgres.py",
    ".venv/bin/python manage.py migrate &&": "tests/deploy/test_services.py",
    "manage.py backup": "tests/foundation/test_backup.py",
    "manage.py restore": "tests/foundation/test_backup.py",
    "manage.py movevectors": "tests/memories/test_moving.py",
    "manage.py erase_disk": "tests/ops/test_disk_erasure.py",
}


def commands(page: Path) -> Iterator[str]:
    """What a page shows to be typed, one by one, without remarks."""
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        one = ""
        for line in block.splitlines():
            one = f"{one}\n{line}" if one else line
            if one.endswith("\\") or one.count("'") % 2:
                continue
            if one.startswith(_BEGINNINGS):
                yield re.sub(r"\s+#\s.*$", "", one.replace("\\\n", " "))
            one = ""


def typed_here(page: Path, command: str) -> bool:
    return command.startswith(("manage.py residue", "manage.py reapply_forgets"))


def test_every_command_is_typed_by_some_test_or_says_why_not() -> None:
    shown = [(page, one) for page in PAGES for one in commands(page)]
    others = [one for page, one in shown if not typed_here(page, one)]
    assert len(shown) > 40
    assert [one for one in others if not one.startswith(tuple(ELSEWHERE))] == []
    assert [one for one in ELSEWHERE if not any(other.startswith(one) for other in others)] == []
    files = [one for one in ELSEWHERE.values() if one.endswith(".py")]
    assert [one for one in files if not (ROOT / one).is_file()] == []


def post(client: Client, path: str, **body: Any) -> None:
    answer = client.post(f"/api/v1{path}", orjson.dumps(body), "application/json")
    assert 200 <= answer.status_code < 300, answer.content


def test_the_commands_about_forgetting_are_taken_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = keys.create(name="whole", scopes=list(Scope.values))[1]
    client = Client(headers={"Authorization": f"Bearer {key}"})
    whose = {"user_id": "ana", "conversation_id": "c"}
    said = {"user_message": "I live in Rome.", "assistant_message": "I see."}
    post(client, "/turns", **whose, **said)
    worker.drain()
    post(client, "/memory/forget", **whose, scope="conversation")
    with pytest.raises(Kill):  # only of a forget that isn't done there is something to look for
        kill_at(monkeypatch, step="receipt", moment="before")
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("the spare key\n", encoding="utf-8")
    operation = Operation.objects.get(kind=Kind.FORGET_CONVERSATION).public_id
    page = ROOT / "docs/forgetting.md"
    shown = [one for one in commands(page) if typed_here(page, one)]
    shown = [one for one in shown if one.startswith("manage.py ")]
    assert len(shown) == 4
    for one in shown:
        call_command(*shlex.split(one.replace("op_…", operation))[1:])
