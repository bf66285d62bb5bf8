"""Gives a benchmark user a list of memories, unchanged and without arbitration."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from typing import Any

from bench.product import Product

_FILL = """
import json
from memories.models import Origin
from memories.indexing import search_index
from memories.writing import memory_writes
from memories.writing.memory_writes import Draft, SourceInput
from ops.access import as_user
from ops.accounts import users
user = users.find_or_create({user!r})
texts = json.load(open({path!r}, encoding="utf-8"))
vectors = search_index.embed(texts)
with as_user(user):
    for place, text in enumerate(texts):
        draft = Draft(text, "fact", vectors[place : place + 1], origin=Origin.API)
        memory_writes.create(draft, user=user, source=SourceInput(Origin.API))
"""


def fill(product: Product, *, user: str, memories: Sequence[str]) -> None:
    """Write the memories through the service, because `POST /memory/long_term` merges some."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(list(memories), file)
        file.flush()
        code = _FILL.format(user=user, path=file.name)
        product.manage("shell", "--no-imports", "--command", code)


def found(product: Product, *, user: str, query: str, limit: int = 10) -> list[dict[str, Any]]:
    """Return the memories that `GET /search` finds, best first."""
    answer = product.get("/search", user_id=user, query=query, types="memory", limit=limit)
    results: list[dict[str, Any]] = answer["results"]
    return results
