"""The filter in a running Open WebUI, with a fake model behind it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from memory_center import Filter

from integrations.center import ASKED, TOLD, Center, prompt
from tests.chat_server import ChatServer, said, serving

FILTER = (Path(__file__).parent / "memory_center.py").read_text(encoding="utf-8")
PORT = 18_923
DEMO = "memcenter-demo"  # our demo assistant, which knows only the recalled memories
_PATIENCE = 400  # seconds; the first start fills a database


@dataclass(frozen=True)
class Person:
    """A signed-in user."""

    http: httpx.Client
    id: str

    def chat(self, text: str, **more: Any) -> Any:
        body = {"model": "m", "stream": False, "messages": [{"role": "user", "content": text}]}
        return self.http.post("/api/chat/completions", json=body | more).raise_for_status().json()

    def chat_on_the_page(self, text: str, **more: Any) -> Any:
        """Send a message as the web page does: the chat is stored and answered asynchronously."""
        ids = [str(uuid.uuid4()) for _ in range(3)]
        asked = {"id": ids[0], "parentId": None, "role": "user", "content": text}
        place = {"parent_id": None, "user_message": asked, "id": ids[1], "session_id": ids[2]}
        return self.chat(text, **place, **more)


@dataclass(frozen=True)
class OpenWebUI:
    url: str
    model: ChatServer
    admin: httpx.Client

    def person(self) -> Person:
        """Create a user as the administrator."""
        made = self.admin.post("/api/v1/auths/add", json={**form(), "role": "user"})
        known = made.raise_for_status().json()
        return Person(signed_in(self.url, known["token"]), known["id"])


def form() -> dict[str, str]:
    name = f"p{uuid.uuid4().hex[:10]}"
    return {"name": name, "email": f"{name}@example.com", "password": "a-Long-enough-1"}


def signed_in(url: str, token: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=120)


@contextmanager
def running(place: Path) -> Iterator[str]:
    """Run Open WebUI without network; otherwise it would download an embedding model."""
    url = f"http://127.0.0.1:{PORT}"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(place),
        "DATA_DIR": str(place / "data"),
        "OFFLINE_MODE": "true",
        "HF_HUB_OFFLINE": "1",
        "RAG_EMBEDDING_ENGINE": "openai",
        "ENABLE_OLLAMA_API": "false",
        "BYPASS_MODEL_ACCESS_CONTROL": "true",
        "ENABLE_FORWARD_USER_INFO_HEADERS": "true",
        "FORWARD_USER_INFO_HEADER_USER_ID": "X-Memcenter-User",
        "FORWARD_SESSION_INFO_HEADER_CHAT_ID": "X-Memcenter-Conversation",
        "WEBUI_SECRET_KEY": "a-secret-of-32-characters-or-more",
    }
    command = [str(Path(sys.executable).parent / "open-webui"), "serve", "--host", "127.0.0.1"]
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--port", str(PORT)], env=environment, stdout=log, stderr=log, cwd=place
        )
    try:
        deadline = time.monotonic() + _PATIENCE
        while not answers(url):
            assert process.poll() is None and time.monotonic() < deadline, (
                place / "log"
            ).read_text()
            time.sleep(0.5)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=60)


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=5).is_success
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="session")
def open_webui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenWebUI]:
    """Open WebUI with our filter, which the administrator has enabled for all users."""
    with serving(said("Noted.")) as model, running(tmp_path_factory.mktemp("ow")) as url:
        first = httpx.post(f"{url}/api/v1/auths/signup", json=form(), timeout=120)
        admin = signed_in(url, first.raise_for_status().json()["token"])
        models = {
            "ENABLE_OPENAI_API": True,
            "OPENAI_API_BASE_URLS": [model.url, f"{os.environ['MEMORY_CENTER_URL']}/v1"],
            "OPENAI_API_KEYS": ["none", os.environ["MEMORY_CENTER_KEY"]],
            "OPENAI_API_CONFIGS": {
                "0": {"enable": True, "model_ids": ["m"]},
                "1": {"enable": True, "model_ids": [DEMO]},
            },
        }
        admin.post("/openai/config/update", json=models).raise_for_status()
        admin.get("/api/models", params={"refresh": True}).raise_for_status()
        ours = {"id": "memory_center", "name": "Memory Center", "content": FILTER, "meta": {}}
        admin.post("/api/v1/functions/create", json=ours).raise_for_status()
        valves = {name: os.environ[f"MEMORY_CENTER_{name.upper()}"] for name in ("url", "key")}
        for action, body in {"valves/update": valves, "toggle": {}, "toggle/global": {}}.items():
            path = f"/api/v1/functions/id/memory_center/{action}"
            admin.post(path, json=body).raise_for_status()
        yield OpenWebUI(url, model, admin)


def center_of(person: Person, center: Center) -> Center:
    return replace(center, user_id=person.id)


def test_a_chat_recalls_what_another_one_told(open_webui: OpenWebUI, center: Center) -> None:
    ada, other = open_webui.person(), open_webui.person()
    ada.chat_on_the_page(TOLD)
    theirs = center_of(ada, center)
    theirs.wait_until_known("nuts")

    open_webui.model.asked.clear()
    ada.chat(ASKED)
    assert "allergic to nuts" in prompt(open_webui.model) and TOLD not in prompt(open_webui.model)
    other.chat(ASKED)
    assert "nuts" not in prompt(open_webui.model)


def test_a_call_of_the_api_is_recorded(open_webui: OpenWebUI, center: Center) -> None:
    ada = open_webui.person()
    assert ada.chat(TOLD)["choices"][0]["message"]["content"] == "Noted."
    center_of(ada, center).wait_until_known("nuts")


def test_a_temporary_chat_teaches_nothing(open_webui: OpenWebUI, center: Center) -> None:
    ada = open_webui.person()
    ada.chat("I am allergic to milk.", chat_id=f"temporary:{uuid.uuid4()}")
    ada.chat(TOLD)
    theirs = center_of(ada, center)
    theirs.wait_until_known("nuts")
    assert not [text for text in theirs.memories() if "milk" in text]
    assert len(theirs.get("/conversations")["results"]) == 1


def test_a_channel_recalls_nothing_about_the_person(center: Center) -> None:
    center.post("/memory/long_term", content="I am allergic to nuts", kind="constraint")

    async def prompt_of(chat: str) -> str:
        ours = Filter()
        ours.valves = Filter.Valves(url=center.url, key=center.key)
        body = {"messages": [{"role": "user", "content": ASKED}]}
        person = {"id": center.user_id, "valves": Filter.UserValves()}
        return str((await ours.inlet(body, person, {"chat_id": chat}))["messages"])

    assert "nuts" in asyncio.run(prompt_of("friday"))
    assert "nuts" not in asyncio.run(prompt_of("channel:kitchen"))


def test_a_changed_url_is_enough(open_webui: OpenWebUI, center: Center) -> None:
    """A user without the filter chats with the demo assistant by its URL; turns are recorded."""
    ada = open_webui.person()
    path = "/api/v1/functions/id/memory_center/valves/user/update"
    ada.http.post(path, json={"enabled": False}).raise_for_status()
    ada.chat(TOLD)
    assert center_of(ada, center).get("/conversations")["results"] == []
    ada.chat_on_the_page(TOLD, model=DEMO)
    center_of(ada, center).wait_until_known("nuts")
    [answer] = ada.chat("What am I allergic to?", model=DEMO)["choices"]
    assert "nuts" in answer["message"]["content"]
