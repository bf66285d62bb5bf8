"""Every command that a page shows is typed: here, or by the test that is named beside it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import orjson
import pytest
from django.core.management import call_command
from django.test import Client

from ops.models import Kind, Operation, Scope
from ops.services import keys, worker
from tests.killing import Kill, kill_at
from tests.live import ROOT
from tests.rules.test_readme import PAGES

pytestmark = pytest.mark.django_db
_BLOCK = re.compile(r"^```(?:sh|text)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BEGINNINGS = (
    *("make ", "curl ", "call ", "sh ", "docker ", "cp ", "psql ", "systemctl ", "manage.py "),
    *(".venv/bin/", "python", "MEMCENTER_HOSTNAME="),
)
# Commands that aren't typed here, by how they begin: the file that does it, or why nothing does.
ELSEWHERE = {
    "make up": "tests/embedded/test_serve.py",
    "make test": "what is running now",
    "make check": "what ran just before",
    ".venv/bin/python -m pytest": "what is running now",
    "python3 -m venv .venv-peer": "asks a package index; tests/peer tells whether it was done",
    "make bench": "measures for hours",
    ".venv/bin/python -m bench": "measures for hours",
    ".venv/bin/python bench/": "measures for minutes",
    "curl http://127.0.0.1:8000/": "tests/scenarios/test_readme.py",
    "curl -sS": "tests/scenarios/test_clients_page.py",
    "sh deploy/make-secrets.sh": "tests/deploy/test_files.py",
    "MEMCENTER_HOSTNAME=memory.example.org docker compose": "tests/deploy/test_services.py",
    "docker compose exec": "asks for an engine",
    "docker compose run": "asks for an engine",
    "docker compose start": "asks for an engine",
    "docker compose stop": "asks for an engine",
    "cp deploy/systemd": "asks for the machine's own systemd",
    "systemctl enable": "asks for the machine's own systemd",
    "psql -d postgres": "tests/embedded/test_postgres.py",
    ".venv/bin/python manage.py migrate &&": "tests/deploy/test_services.py",
    "manage.py backup": "tests/memcenter/test_backup.py",
    "manage.py restore": "tests/memcenter/test_backup.py",
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
    return command.startswith(("call ", "manage.py residue", "manage.py reapply_forgets"))


def test_every_command_is_typed_by_some_test_or_says_why_not() -> None:
    shown = [(page, one) for page in PAGES for one in commands(page)]
    others = [one for page, one in shown if not typed_here(page, one)]
    assert len(shown) > 40
    assert [one for one in others if not one.startswith(tuple(ELSEWHERE))] == []
    assert [one for one in ELSEWHERE if not any(other.startswith(one) for other in others)] == []
    files = [one for one in ELSEWHERE.values() if one.endswith(".py")]
    assert [one for one in files if not (ROOT / one).is_file()] == []


class Caller:
    """Types the calls of docs/api.md; what an answer named stands for the dots of the next."""

    def __init__(self, key: str) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        self._client = Client(headers=headers, raise_request_exception=False)
        self._known: dict[str, str] = {}

    def type(self, command: str) -> Any:
        path, method, told, headers = self._read(shlex.split(self._filled(command)))
        if method == "GET":
            answer = self._client.get(path, dict(told), headers=headers)
        else:
            body = dict(told)["json"]
            answer = self._client.generic(method, path, body, "application/json", headers=headers)
        assert 200 <= answer.status_code < 300, (command, answer.content)
        return self._note(answer)

    def learn_ids(self) -> None:
        """Write a memory and a turn, so that their ids can stand for the dots."""
        memory = '{"user_id": "ana", "content": "Collects stamps"}'
        turn = '"user_message": "I collect stamps.", "assistant_message": "I see."'
        made = self.type(f"call $API/memory/long_term -d '{memory}'")
        told = self.type(
            f"""call $API/turns -d '{{"user_id": "ana", "conversation_id": "s", {turn}}}'"""
        )
        self._known |= {"mem_…": made["id"], "msg_…": told["user_message_id"]}

    def _filled(self, command: str) -> str:
        for dots, said in self._known.items():
            command = command.replace(dots, said)
        return command

    def _read(self, words: list[str]) -> tuple[str, str, list[tuple[str, str]], dict[str, str]]:
        path, method, told, headers = "", "", list[tuple[str, str]](), dict[str, str]()
        asks = "-G" in words
        given = iter(word for word in words[1:] if word not in ("-G", "-i"))
        for word in given:
            if word in ("-d", "--data-urlencode"):
                text = next(given)
                told += parse_qsl(text) if asks else [("json", text)]
            elif word == "-H":
                name, _, value = next(given).partition(": ")
                headers[name] = value
            elif word == "-X":
                method = next(given)
            else:
                path = word.replace("$API", "/api/v1")
        return path, method or ("GET" if asks else "POST"), told, headers

    def _note(self, answer: Any) -> Any:
        said = orjson.loads(answer.content) if "json" in answer["Content-Type"] else {}
        if tag := answer.headers.get("ETag"):
            self._known['"…"}'] = '"## fact\\n- Plays chess"}'
            self._known['"…"'] = tag
        if said.get("assistant_message_id"):
            self._known["msg_..."] = said["assistant_message_id"]
        if said.get("op_id"):
            self._known["op_..."] = said["op_id"]
        for candidate in said.get("candidates", [])[:1]:
            self._known["cand_…"] = candidate["id"]
        return said


def test_every_call_of_the_api_page_is_taken_as_it_stands() -> None:
    caller = Caller(keys.create(name="whole", scopes=list(Scope.values))[1])
    calls = [one for one in commands(ROOT / "docs/api.md") if one.startswith("call ")]
    assert len(calls) > 15
    caller.learn_ids()
    for one in calls:
        if "op_..." in one:
            worker.drain()
        caller.type(one)


def test_the_commands_about_forgetting_are_taken_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = Caller(keys.create(name="whole", scopes=list(Scope.values))[1])
    said = '"user_id": "ana", "conversation_id": "c"'
    turn = f'{said}, "user_message": "I live in Rome.", "assistant_message": "I see."'
    caller.type(f"call $API/turns -d '{{{turn}}}'")
    worker.drain()
    caller.type(f"""call $API/memory/forget -d '{{{said}, "scope": "conversation"}}'""")
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
