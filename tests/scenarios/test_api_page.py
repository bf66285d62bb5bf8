"""The examples of docs/api.md, run as they are printed, in their order, against the product."""

import os
import re
import subprocess
import sys
from collections import Counter
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


def blocks_with_memory(told: str) -> list[str]:
    """The memory blocks for a prompt that were printed and hold what the page told before."""
    found = re.findall(r"<memory_block\b.*?</memory_block>", told, re.DOTALL)
    return [block for block in found if "allergic to peanuts" in block]


def test_no_block_of_code_is_left_out() -> None:
    fences = [line for line in PAGE.splitlines() if line.startswith("```")]
    assert len(fences) == 2 * len(BLOCKS)
    counted = Counter(language for language, _ in BLOCKS)
    assert set(counted) == {"sh", "python", "ts"} and counted["sh"] > 12


def test_every_example_of_the_shell_runs_as_printed(product: Product, tmp_path: Path) -> None:
    """All blocks in one shell, which ends at the first command that fails."""
    for name in (".venv", "manage.py"):
        (tmp_path / name).symlink_to(ROOT / name)

    told = printed(
        ["bash", "-euxo", "pipefail", "-c", code("sh")],
        tmp_path,
        **product.environment,
        KEY=product.api_key,
        API=f"{product.address}/api/v1",
    )

    assert blocks_with_memory(told) and re.search(r'"key": ?"mc_', told)


def test_every_example_in_python_runs_as_printed(product: Product, tmp_path: Path) -> None:
    told = printed(
        [sys.executable, "-c", code("python")],
        tmp_path,
        PYTHONPATH=str(ROOT / "clients/python"),
        MEMORY_CENTER_URL=product.address,
        MEMORY_CENTER_KEY=product.api_key,
    )
    assert blocks_with_memory(told) and "404 not_found" in told and "succeeded" in told


def test_each_call_of_the_clients_is_shown_in_both_languages() -> None:
    """`make clients` runs the examples in TypeScript."""
    assert {language for language, _ in BLOCKS} == {"sh", "python", "ts"}
    shown = [re.findall(r"center\.(\w+)\(", code(language)) for language in ("python", "ts")]
    snake = [re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower() for name in shown[1]]
    assert shown[0] == snake and len(snake) > 10
