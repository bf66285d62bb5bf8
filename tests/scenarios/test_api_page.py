"""The examples of docs/api.md, run as they are printed, in their order, against the product."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.live import ROOT, Product

PAGE = (ROOT / "docs/api.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)


def code(language: str) -> str:
    return "\n".join(block for one, block in BLOCKS if one == language)


def printed(command: Sequence[str], place: Path, **environment: str) -> str:
    done = subprocess.run(
        command,
        env={"PATH": os.environ["PATH"], **environment},
        cwd=place,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, f"{done.stdout[-800:]}\n{done.stderr[-2000:]}"
    return done.stdout


def test_every_example_of_the_shell_runs_as_printed(product: Product, tmp_path: Path) -> None:
    assert len([1 for language, _ in BLOCKS if language == "sh"]) > 12
    admin = product.manage("createapikey", "--scopes", "read,write,admin").stdout.strip()

    told = printed(
        ["bash", "-euxo", "pipefail", "-c", code("sh")],
        tmp_path,
        KEY=product.api_key,
        API=f"{product.address}/api/v1",
        ADMIN_KEY=admin,
    )

    assert "allergic to peanuts" in told and "mc_" in told


def test_every_example_in_python_runs_as_printed(product: Product, tmp_path: Path) -> None:
    told = printed(
        [sys.executable, "-c", code("python")],
        tmp_path,
        PYTHONPATH=str(ROOT / "clients/python"),
        MEMORY_CENTER_URL=product.address,
        MEMORY_CENTER_KEY=product.api_key,
    )
    assert "allergic to peanuts" in told and "404 not_found" in told and "succeeded" in told


def test_each_call_of_the_clients_is_shown_in_both_languages() -> None:
    """`make clients` runs the examples in TypeScript."""
    assert {language for language, _ in BLOCKS} == {"sh", "python", "ts"}
    shown = [re.findall(r"center\.(\w+)\(", code(language)) for language in ("python", "ts")]
    snake = [re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower() for name in shown[1]]
    assert shown[0] == snake and len(snake) > 10
