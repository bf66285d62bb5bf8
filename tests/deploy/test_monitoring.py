"""The dashboard, the alert rules and the runbook name only what exists."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import pytest
import yaml
from django.conf import LazySettings
from django.test import Client

from tests.live import ROOT

DASHBOARD = json.loads((ROOT / "deploy/grafana/memory-center.json").read_text(encoding="utf-8"))
RUNBOOK = (ROOT / "docs/runbook.md").read_text(encoding="utf-8")
METRIC = re.compile(r"\bmemcenter_\w+")


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((ROOT / "deploy/alerts.yml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def expressions() -> list[str]:
    drawn = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    return drawn + [rule["expr"] for rule in rules()]


@pytest.fixture
def exported(db: None, settings: LazySettings) -> set[str]:
    """The names of the metrics that `/metrics` describes."""
    settings.METRICS_TOKEN = "of metrics"
    text = Client().get("/metrics", headers={"Authorization": "Bearer of metrics"}).text
    return set(re.findall(r"^# TYPE (\w+)", text, flags=re.MULTILINE))


def test_every_metric_that_is_drawn_or_alerted_on_is_exported(exported: set[str]) -> None:
    named = {name for one in expressions() for name in METRIC.findall(one)}
    assert named <= exported
    drawn = METRIC.findall(json.dumps(DASHBOARD))
    assert exported <= set(drawn), "a metric without a panel"


def test_every_metric_that_the_documentation_names_is_exported(exported: set[str]) -> None:
    operating = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    assert {*METRIC.findall(RUNBOOK), *METRIC.findall(operating)} - {"memcenter_app"} <= exported


def test_panels_stand_beside_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken and place["x"] + place["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_every_alert_says_what_is_wrong_and_where_help_stands() -> None:
    headings = re.findall(r"^## (.+)$", RUNBOOK, flags=re.MULTILINE)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}
    for rule in rules():
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in {"critical", "warning"}
        page, _, anchor = rule["annotations"]["runbook"].partition("#")
        assert page == "docs/runbook.md" and (not anchor or anchor in anchors)
        assert rule["annotations"]["summary"].endswith(".")
    named = {name.rstrip(".") for name in re.findall(r"\bMemoryCenter[A-Z]\w+", RUNBOOK)}
    assert named <= {rule["alert"] for rule in rules()}


def test_each_of_ten_failures_is_tried_by_tests_that_exist() -> None:
    sections = re.split(r"^## ", RUNBOOK, flags=re.MULTILINE)[1:]
    assert len(sections) == 10
    for section in sections:
        for part in ("How it shows.", "What is safe.", "What to do.", "Tried by"):
            assert f"**{part}**" in section, section.splitlines()[0]
        tests = re.findall(r"`(tests/\S+\.py)::(\w+)`", section)
        assert tests
        for path, name in tests:
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            defined = {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
            assert name in defined, f"{path}::{name}"
