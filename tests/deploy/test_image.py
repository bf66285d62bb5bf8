"""The steps of the `Dockerfile` are carried out and the services of the Compose file run of it.

There is no Docker in it: `tests.deploy.image` and `tests.deploy.container` do what it would, by
mounts. Not real are the base, which is this machine's own system and Python, and the download:
the packages that are installed here stand for it, some of which only tests need.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from foundation.embedded.postgres import Role
from tests import databases
from tests.deploy.compose import COMPOSE
from tests.deploy.container import command
from tests.deploy.dockerfile import Ignored, context
from tests.deploy.image import ALONE
from tests.deploy.services import running, until_it_answers
from tests.deploy.tcp import port_to
from tests.live import ROOT, free_port

DATABASE = "of_the_image"
SAID = {
    "user_id": "ana",
    "conversation_id": "monday",
    "user_message": "I live in Lisbon.",
    "assistant_message": "Good to know!",
}
WRITES = """
for place in / /app /venv /static /run/secrets /data /data-ledger /tmp; do
  touch $place/new 2>/dev/null && echo $place
done
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """The built image. Layers must lie on another file system than what they lie over."""
    if missing := _missing():
        pytest.skip(f"an image can't be put together here: {missing}")
    place = Path(tempfile.mkdtemp(prefix="mc-image-", dir="/dev/shm"))
    try:
        if refused := _refused(place):
            pytest.skip(f"no overlay can be mounted here: {refused}")
        build = [*ALONE, sys.executable, "-m", "tests.deploy.image", str(place)]
        done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        yield place
    finally:
        shutil.rmtree(place)


def _missing() -> str:
    programs = [one for one in ("unshare", "setpriv", "chroot") if not shutil.which(one)]
    if programs or not os.access("/dev/shm", os.W_OK):
        return ", ".join(programs) or "/dev/shm"
    own = Path(sys.base_prefix)
    return "" if own != Path("/usr") and (own / "bin/python").exists() else "a Python of its own"


def _refused(place: Path) -> str:
    for name in ("upper", "work", "all"):
        (place / name).mkdir()
    options = f"lowerdir=/,upperdir={place}/upper,workdir={place}/work"
    tried = ["mount", "-t", "overlay", "overlay", "-o", options, str(place / "all")]
    done = subprocess.run([*ALONE, *tried], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


@pytest.fixture
def secrets(place: Path, db: None) -> Iterator[None]:
    """As `deploy/make-secrets.sh` leaves them: only their owner may enter the folder."""
    databases.add(DATABASE, to=databases.postgres)
    folder = place / "secrets"
    folder.mkdir(mode=0o700)
    ours = databases.folder.secrets
    sockets = Path(str(conninfo_to_dict(databases.postgres.url())["host"]))
    with ExitStack() as open_ports:
        postgres = open_ports.enter_context(port_to(sockets / ".s.PGSQL.5432"))
        redis = open_ports.enter_context(port_to(databases.redis_server.socket))
        for name, value in {
            "database_url": _address("app", postgres),
            "owner_database_url": _address("owner", postgres),
            "redis_url": f"redis://:{ours.redis_password}@127.0.0.1:{redis}/0",
            "secret_key": ours.secret_key,
        }.items():
            (folder / name).write_text(value, encoding="utf-8")
        yield
    shutil.rmtree(folder)
    databases.drop(DATABASE, of=databases.postgres)


def _address(role: Role, port: int) -> str:
    known = conninfo_to_dict(databases.postgres.url(role))
    return f"postgresql://{known['user']}:{known['password']}@127.0.0.1:{port}/{DATABASE}"


def done(place: Path, service: str, *words: str) -> str:
    one = subprocess.run(command(place, service, *words), capture_output=True, text=True)
    assert one.returncode == 0, one.stdout + one.stderr
    return one.stdout


def record(port: int, key: str) -> Any:
    headers = {"Authorization": f"Bearer {key}", "X-Forwarded-Proto": "https"}
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/v1/turns",
        data=json.dumps(SAID).encode(),
        headers={**headers, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return json.load(answer)


def test_services_of_the_image_run_on_a_root_that_is_read_only_and_end_well(
    place: Path, secrets: None
) -> None:
    assert done(place, "web", "sh", "-c", WRITES).split() == ["/data", "/data-ledger", "/tmp"]
    done(place, "migrate")
    port = free_port()
    web = ["env", f"PORT={port}", "WEB_WORKERS=1", *COMPOSE["services"]["web"]["command"]]
    with ExitStack() as all_of_them:
        services = [
            all_of_them.enter_context(
                running(command(place, name, *words), place / f"{name}.log", dict(os.environ))
            )
            for name, words in {"worker": [], "beat": [], "web": web}.items()
        ]
        until_it_answers(port, "/readyz")
        _, *check = COMPOSE["services"]["web"]["healthcheck"]["test"]
        done(place, "web", *(word.replace("8000", str(port)) for word in check))
        key = done(place, "web", "python", "manage.py", "createapikey").strip()
        assert record(port, key)["op_ids"]
        done(place, "worker", "python", "manage.py", "backup", "/data/backup.tar")
        for one in services:
            one.send_signal(signal.SIGTERM)
        assert [one.wait(60) for one in services] == [0, 0, 0]


def test_the_image_says_what_the_compose_file_relies_on(place: Path) -> None:
    image, web = json.loads((place / "image.json").read_text()), COMPOSE["services"]["web"]
    assert json.loads(image["CMD"]) == web["command"] and image["USER"] == web["user"]
    volumes = [volume.partition(":")[2] for volume in web["volumes"]]
    assert json.loads(image["VOLUME"]) == volumes
    assert f"127.0.0.1:{image['EXPOSE']}/healthz" in web["healthcheck"]["test"][-1]
    assert image["STOPSIGNAL"] == "SIGTERM"


def test_what_git_leaves_out_the_image_leaves_out_too() -> None:
    ignored = Ignored((ROOT / ".dockerignore").read_text(encoding="utf-8"))
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    names = [line.rstrip("/").replace("*", "some") for line in lines]
    assert [name for name in names if name not in ignored] == []


def test_neither_tests_nor_secrets_are_in_the_image() -> None:
    taken = {path.parts[0] for path in context(ROOT)}
    assert not taken & {".git", ".venv", ".data", ".data-ledger", "tests", "bench"}
    assert Path("deploy/web.sh") in context(ROOT)
    assert not [path for path in context(ROOT) if path.parts[:2] == ("deploy", "secrets")]
