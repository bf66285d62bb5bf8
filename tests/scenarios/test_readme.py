"""What the READMEs tell a newcomer to type, typed."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.live import ROOT, Product
from tests.scenarios.caller import Caller, until

READMES = [("README.md", "ana"), ("README.zh.md", "xiaolin")]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(name: str, language: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return [body for kind, body in _BLOCK.findall(text) if kind == language]


def calls(name: str) -> list[str]:
    """The commands that record a turn, ask for the memory block, and forget."""
    return [block[block.index("curl ") :] for block in blocks(name, "sh") if "curl" in block]


def typed(command: str, product: Product, place: Path) -> Any:
    """What the shell prints, in an empty folder; the address stands for the README's."""
    assert "http://127.0.0.1:8000" in command
    done = subprocess.run(
        ["sh", "-c", command.replace("http://127.0.0.1:8000", product.address)],
        env={"PATH": os.environ["PATH"], "KEY": product.api_key},
        cwd=place,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("name", "user_id"), READMES)
def test_what_the_readme_records_is_in_the_block_until_it_is_forgotten(
    name: str, user_id: str, product: Product, tmp_path: Path
) -> None:
    record, ask, forget = calls(name)
    (promised,) = blocks(name, "text")
    recorded = typed(record, product, tmp_path)
    assert recorded["op_ids"] and user_id in record and user_id in ask
    Caller(product, user_id).finished(recorded["op_ids"])
    answer = until(
        lambda: (found := typed(ask, product, tmp_path)) and found["block"] and found,
        what="the memory block",
    )
    assert promised.strip() in answer["block"]
    assert answer["window"] == [], "another conversation"
    gone = typed(forget, product, tmp_path)
    Caller(product, user_id).finished([gone["op_id"]])
    assert promised.strip() not in typed(ask, product, tmp_path)["block"]


@pytest.mark.parametrize("name", [name for name, _ in READMES])
def test_the_key_is_the_one_that_the_readme_exports(name: str) -> None:
    first = next(block for block in blocks(name, "sh") if "curl" in block)
    assert first.startswith("export KEY=mc_")
    for call in calls(name):
        assert "Bearer $KEY" in call
