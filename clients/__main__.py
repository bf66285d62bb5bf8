"""Generate the clients, build the TypeScript client, and run its tests against a live product.

make clients
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import django

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache/clients"
GENERATOR = CACHE / "venv/bin/datamodel-codegen"
TYPESCRIPT = ROOT / "clients/typescript"
OPTIONS = (
    "--input-file-type=openapi",
    "--output-model-type=typing.TypedDict",
    "--target-python-version=3.11",
    "--enum-field-as-literal=all",
    "--openapi-scopes=schemas",
    "--strict-nullable",
    "--use-standard-collections",
    "--use-union-operator",
    "--formatters=builtin",
    "--disable-timestamp",
)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
    django.setup()
    generate()
    test()


def generate() -> None:
    from clients import generation

    described = CACHE / "openapi.json"
    described.write_text(json.dumps(generation.document()), encoding="utf-8")
    types = generation.FOLDER / "python/memcenter_client/types.py"
    run(str(GENERATOR), f"--input={described}", f"--output={types}", *OPTIONS)
    generation.SYNC.write_text(generation.synchronous(), encoding="utf-8")
    npm("ci", "--no-audit", "--no-fund")
    options = ("--output=src/schema.ts", "--default-non-nullable=false")
    npm("run", "generate", "--", str(described), *options)
    text = json.dumps(generation.record(), indent=2) + "\n"
    generation.RECORD.write_text(text, encoding="utf-8")


def test() -> None:
    """Run the tests of the TypeScript client and the examples of docs/api.md."""
    from tests.live import server

    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    examples = re.findall(r"```ts\n(.*?)```", page, re.DOTALL)
    (TYPESCRIPT / "tests/examples.test.ts").write_text("\n".join(examples), encoding="utf-8")
    npm("run", "build")
    with server() as live:
        product = live.start()
        address = {"MEMORY_CENTER_URL": product.address, "MEMORY_CENTER_KEY": product.api_key}
        npm("test", **address)


def npm(*arguments: str, **environment: str) -> None:
    run("npm", *arguments, cwd=TYPESCRIPT, **environment)


def run(*command: str, cwd: Path = ROOT, **environment: str) -> None:
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
