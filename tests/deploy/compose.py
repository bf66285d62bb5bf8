"""What `docker-compose.yml` says."""

from __future__ import annotations

import re
from typing import Any

import yaml

from tests.live import ROOT

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
_DEFAULT = re.compile(r"\$\{\w+:-([^}]*)\}")


def given(name: str) -> dict[str, str]:
    """What Compose gives a service where nothing is said of its host."""
    return {
        key: _DEFAULT.sub(r"\1", str(value))
        for key, value in COMPOSE["services"][name]["environment"].items()
    }
