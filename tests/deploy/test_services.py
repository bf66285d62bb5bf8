"""What Compose would start is started here, by its own commands, one beside the other."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.deploy.compose import COMPOSE
from tests.deploy.services import environment, started, until_it_answers
from tests.live import ROOT, free_port


@pytest.mark.django_db
def test_all_services_come_up_and_the_clock_reaches_the_worker(tmp_path: Path) -> None:
    """`/readyz` of web is well once database and broker answer and a worker ran what beat sent."""
    migrate = COMPOSE["services"]["migrate"]["command"]
    subprocess.run(migrate, cwd=ROOT, env=environment("migrate", tmp_path), check=True)
    port = free_port()
    with ExitStack() as running:
        running.enter_context(started("worker", tmp_path))
        running.enter_context(started("beat", tmp_path))
        # One process says as much as two, in half the time.
        running.enter_context(started("web", tmp_path, PORT=str(port), WEB_WORKERS="1"))
        until_it_answers(port, "/readyz")
