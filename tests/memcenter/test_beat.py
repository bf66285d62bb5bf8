"""The clock: light, and it names only what there is."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from django.conf import settings

from memcenter import beat
from memcenter.celery import app
from tests.live import ROOT

_LOADED = """
import sys
from memcenter.beat import app
app.loader.import_default_modules()
print([name for name in ("ops.models", "memories.models", "conversations.models")
       if name in sys.modules])
"""


def test_all_that_it_sends_can_be_run_and_grows_old() -> None:
    app.loader.import_default_modules()
    assert beat.app.conf.beat_schedule == settings.CELERY_BEAT_SCHEDULE
    schedule: dict[str, Any] = settings.CELERY_BEAT_SCHEDULE
    for one in schedule.values():
        assert one["task"] in app.tasks
        assert one["options"]["expires"] > 0


def test_it_loads_nothing_of_the_app() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
