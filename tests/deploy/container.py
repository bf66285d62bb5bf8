"""A service of the Compose file, run of the image that `tests.deploy.image` built, without Docker.

    python -m tests.deploy.container PLACE SERVICE [COMMAND ...]

becomes the service's command, or another that is to run in its place. The root is read-only,
apart from its volumes and `/tmp`; secrets are those in `PLACE/secrets`. Unlike a container it
sees the network and the processes of this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.deploy.compose import COMPOSE, given
from tests.deploy.image import ALONE, furnish, inside, mount, over


def command(place: Path, service: str, *words: str) -> list[str]:
    return [*ALONE, sys.executable, "-m", "tests.deploy.container", str(place), service, *words]


def become(place: Path, service: str, words: list[str]) -> None:
    image, one = json.loads((place / "image.json").read_text()), COMPOSE["services"][service]
    assert one["read_only"]
    root, points = place / "container.root", place / "points"
    (points / "run/secrets").mkdir(parents=True, exist_ok=True)
    for name in one["secrets"]:
        (points / "run/secrets" / name).touch()
    over(root, f"{points}:{place / 'image'}:{image['base']}")
    furnish(root)
    for where, what in image["mounts"].items():
        over(root / where.lstrip("/"), what)
    for name in one["secrets"]:
        mount("--bind", "-o", "ro", place / "secrets" / name, root / "run/secrets" / name)
    for name, _, target in (volume.partition(":") for volume in one["volumes"]):
        mount("--bind", _volume(place, name, root / target.lstrip("/")), root / target.lstrip("/"))
    environment = {**image["environment"], "HOME": "/nonexistent", **given(service)}
    before = inside(root, one["user"], environment, image["folder"])
    os.execvp(before[0], [*before, *(words or one["command"])])


def _volume(place: Path, name: str, there: Path) -> Path:
    """A new one begins as what the image has there, its owner too."""
    volume = place / "volumes" / name
    if not volume.exists():
        volume.parent.mkdir(exist_ok=True)
        subprocess.run(["cp", "-a", there, volume], check=True)
    return volume


if __name__ == "__main__":
    become(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
