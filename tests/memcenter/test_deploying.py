"""How it stands with the settings of a real deployment."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from foundation import env
from memcenter.middleware import client_address
from tests.live import ROOT

_OURS = ("DATABASE_URL", "MEMCENTER_", "REDIS_URL", "PORT", "DJANGO_")


def manage(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """With databases of one's own, at addresses that nobody answers."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    theirs = {
        "DATABASE_URL": "postgresql://app:secret@127.0.0.1:1/memcenter",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "MEMCENTER_PUBLIC_URL": "https://memory.example.org",
        "MEMCENTER_ALLOWED_HOSTS": "memory.example.org",
    }
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**kept, **theirs, **settings},
        capture_output=True,
        text=True,
    )


def test_nothing_is_left_to_say_about_a_production_setup(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text(secrets.token_urlsafe(64), encoding="utf-8")
    done = manage("check", "--deploy", "--fail-level=INFO", MEMCENTER_SECRET_KEY_FILE=str(key))
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout + done.stderr


def test_nothing_starts_on_databases_of_ones_own_without_a_key() -> None:
    done = manage("check")
    assert done.returncode == 1
    assert "MEMCENTER_SECRET_KEY is missing" in done.stderr


def test_a_secret_may_lie_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "password").write_text("from the file\n", encoding="utf-8")
    monkeypatch.setenv("MEMCENTER_MODEL_API_KEY_FILE", str(tmp_path / "password"))
    assert env.text("MEMCENTER_MODEL_API_KEY") == "from the file"


@pytest.mark.parametrize(
    ("proxies", "passed", "seen"),
    [
        (0, "6.6.6.6", "10.0.0.1"),
        (1, "6.6.6.6, 192.0.2.7", "192.0.2.7"),
        (2, "6.6.6.6, 192.0.2.7, 10.0.0.9", "192.0.2.7"),
        (2, "192.0.2.7", "10.0.0.1"),
    ],
)
def test_an_address_that_a_visitor_invents_counts_for_nothing(
    settings: LazySettings, proxies: int, passed: str, seen: str
) -> None:
    settings.PROXIES = proxies
    found: list[str] = []

    def view(request: HttpRequest) -> HttpResponse:
        found.append(request.META["REMOTE_ADDR"])
        return HttpResponse()

    asked = RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR=passed)
    client_address(view)(asked)
    assert found == [seen]


@pytest.mark.django_db
def test_pages_run_no_script_that_stands_in_them() -> None:
    response = Client().get("/signin/")
    policy = response["Content-Security-Policy"]
    assert "default-src 'self'" in policy and "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy and response["X-Frame-Options"] == "DENY"
