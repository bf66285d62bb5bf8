"""What docs/clients.md shows is run as it stands there."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from memcenter.management.commands.mcp import Command
from ops.accounts import keys
from ops.models import User
from ops.webhooks import signature
from tests.live import ROOT
from tests.memcenter.rest.client import Api, answer

pytestmark = pytest.mark.django_db
PAGE = (ROOT / "docs/clients.md").read_text(encoding="utf-8")


def blocks(kind: str, about: str) -> list[str]:
    found = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    return [one for one in found if about in one]


def sent(path: str) -> dict[str, Any]:
    """The body that the page's curl sends to a path."""
    [block] = blocks("sh", f"$API{path}")
    found = re.search(r"-d '(.*)'", block, re.DOTALL)
    assert found is not None
    body: dict[str, Any] = json.loads(found[1])
    return body


def test_the_signature_is_checked_as_the_page_shows() -> None:
    [code] = blocks("python", "is_from_memory_center")
    names: dict[str, Any] = {}
    exec(code, names)
    check, body, now = names["is_from_memory_center"], b'{"id": "dlv_1"}', int(time.time())
    assert check(body, signature(body, secret="s", at=now), "s")
    assert not check(body, signature(body, secret="other", at=now), "s")
    assert not check(body + b" ", signature(body, secret="s", at=now), "s")
    assert not check(body, signature(body, secret="s", at=now - 301), "s")
    mac = hmac.new(b"s", f"{now}.".encode() + body, hashlib.sha256).hexdigest()
    assert signature(body, secret="s", at=now) == f"t={now},v1={mac}"


def test_the_link_of_the_page_signs_somebody_in(product_key: str) -> None:
    made = answer(Api(product_key).post("/signin-links", sent("/signin-links")), 201)
    client = Client()
    assert client.get(urlsplit(made["url"]).path)["Location"] == "/memory/"


def test_the_webhook_of_the_page_is_taken(alice: User, alice_key: str) -> None:
    made = answer(Api(alice_key).post("/webhooks", sent("/webhooks")), 201)
    assert made["secret"] == "choose-a-long-one"


def test_the_configurations_of_agents_lead_to_what_there_is(alice_key: str) -> None:
    web, stdio = (json.loads(one)["mcpServers"]["memory-center"] for one in blocks("json", "mcp"))
    told = web["headers"]["Authorization"].replace("mc_...", alice_key)
    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = "application/json, text/event-stream"
    response = Client(headers={"Authorization": told, "Accept": accept}).post(
        urlsplit(web["url"]).path, json.dumps(ask), content_type="application/json"
    )
    assert len(response.json()["result"]["tools"]) == 8
    assert [one.rsplit("/", 1)[-1] for one in stdio["args"]] == ["manage.py", "mcp"]
    assert "stdio" in Command.help and list(stdio["env"]) == ["MEMCENTER_API_KEY"]
    assert keys.authenticate(alice_key) is not None
