"""The rules of hadolint that matter for our Dockerfile."""

from __future__ import annotations

import json
import re

import pytest

from tests.deploy.dockerfile import Step, steps
from tests.live import ROOT

PLAIN = 'FROM python:3.11-slim\nUSER 10001:10001\nCMD ["sh", "web.sh"]\n'


def problems(text: str) -> set[str]:
    """The numbers of the rules that a Dockerfile breaks."""
    found = steps(text)
    broken = {number for one in found for number in _of_step(one)}
    users = [one.said for one in found if one.word == "USER"]
    if not users or users[-1].partition(":")[0] in {"root", "0"}:
        broken.add("DL3002")
    return broken


def _of_step(step: Step) -> set[str]:
    rules = {"FROM": _of_image, "RUN": _of_run, "CMD": _of_command, "WORKDIR": _of_folder}
    return rules[step.word](step.said) if step.word in rules else set()


def _of_image(said: str) -> set[str]:
    name, _, tag = said.split()[0].rpartition("/")[2].partition(":")
    return {"DL3006"} if name and not tag else {"DL3007"} if tag == "latest" else set()


def _of_run(said: str) -> set[str]:
    broken = set()
    if "apt-get install" in said:
        broken |= {"DL3009"} - ({"DL3009"} if "rm -rf /var/lib/apt/lists" in said else set())
        broken |= set() if "--no-install-recommends" in said else {"DL3015"}
    if re.search(r"\bpip3? install\b", said) and "--no-cache-dir" not in said:
        broken.add("DL3042")
    if re.search(r"\bsudo\b", said):
        broken.add("DL3004")
    return broken | ({"DL3003"} if re.search(r"(^|&&|;)\s*cd\s", said) else set())


def _of_command(said: str) -> set[str]:
    try:
        return set() if isinstance(json.loads(said), list) else {"DL3025"}
    except ValueError:
        return {"DL3025"}


def _of_folder(said: str) -> set[str]:
    return set() if said.startswith("/") else {"DL3000"}


def test_our_dockerfile_breaks_no_rule() -> None:
    assert problems((ROOT / "Dockerfile").read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize(
    ("line", "instead", "rule"),
    [
        ("FROM python:3.11-slim", "FROM python", "DL3006"),
        ("FROM python:3.11-slim", "FROM python:latest", "DL3007"),
        ("USER 10001:10001", "USER root", "DL3002"),
        ("USER 10001:10001", "RUN true", "DL3002"),
        ('CMD ["sh", "web.sh"]', "CMD sh web.sh", "DL3025"),
        ('CMD ["sh', 'RUN apt-get install --no-install-recommends -y x\nCMD ["sh', "DL3009"),
        ('CMD ["sh', 'RUN pip install x\nCMD ["sh', "DL3042"),
        ('CMD ["sh', 'WORKDIR app\nCMD ["sh', "DL3000"),
    ],
)
def test_each_rule_finds_what_it_is_for(line: str, instead: str, rule: str) -> None:
    assert problems(PLAIN) == set()
    assert problems(PLAIN.replace(line, instead)) == {rule}
