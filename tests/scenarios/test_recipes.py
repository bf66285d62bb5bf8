"""The programs of docs/clients.md, run as they stand there against a running product."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.live import ROOT, Product

PAGE = (ROOT / "docs/clients.md").read_text(encoding="utf-8")


def block(language: str, about: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    [one] = [text for text in found if about in text]
    return str(one)


def printed(command: Sequence[str], product: Product, place: Path) -> list[str]:
    done = subprocess.run(
        command,
        env={
            "PATH": os.environ["PATH"],
            "MEMORY_CENTER_KEY": product.api_key,
            "MEMORY_CENTER_URL": product.address,
            "MEM0_TELEMETRY": "False",
            "MEM0_DIR": str(place),
        },
        cwd=place,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def python(about: str, product: Product, place: Path) -> list[str]:
    return printed([sys.executable, "-W", "ignore", "-c", block("python", about)], product, place)


def test_the_recipe_for_mem0_learns_finds_and_forgets(product: Product, tmp_path: Path) -> None:
    remembered, left = python("MemoryClient(", product, tmp_path)
    assert "peanuts" in remembered and left == "0 left"


def test_the_recipe_for_openai_answers_from_what_is_remembered(
    product: Product, tmp_path: Path
) -> None:
    assert python("from openai import OpenAI", product, tmp_path)[-1] == "512 numbers"


def test_the_recipe_for_langchain_answers_from_what_is_remembered(
    product: Product, tmp_path: Path
) -> None:
    assert python("ChatOpenAI(", product, tmp_path)[-1]


def test_the_two_calls_record_and_recall(product: Product, tmp_path: Path) -> None:
    script = block("sh", "$API/turns").replace("http://127.0.0.1:8000", product.address)
    script = script.replace("mc_...", product.api_key).replace("\ncurl", "\necho\ncurl")
    [recorded, recalled] = [
        json.loads(line) for line in printed(["sh", "-c", script], product, tmp_path) if line
    ]
    assert recorded["op_ids"] and recalled["request_id"]
