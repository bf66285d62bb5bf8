"""Memory Center as a LangGraph store, through the API for mem0 clients."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import httpx
from langgraph.store.base import BaseStore, GetOp, Item, Op, PutOp, Result, SearchItem, SearchOp

_TEXT_FIELDS = ("content", "text", "memory")  # fields that may hold the memory's text
_PERSON = "memories"


class MemoryCenterStore(BaseStore):
    """A store whose namespaces end with the user's id.

    `("memories", user_id)` finds all memories of the user, including those from conversations. Any
    other namespace finds only its own items. `center` is a client with the address and the key.
    """

    def __init__(self, center: httpx.Client) -> None:
        self._center = center

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _do(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            found = self._rows(op.namespace, op.key)
            return Item(**_fields(found[0], op.namespace)) if found else None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, PutOp):
            return self._put(op)
        raise NotImplementedError("Memory Center doesn't list people.")

    def _rows(self, namespace: tuple[str, ...], key: str) -> list[dict[str, Any]]:
        put = {"metadata": {"key": key, "namespace": "/".join(namespace)}}
        learned = [{"memory_ids": [key]}] if namespace[0] == _PERSON else []
        tests = [{"user_id": namespace[-1]}, {"OR": [put, *learned]}]
        return list(self._send("POST", "/v3/memories/", filters={"AND": tests})["results"])

    def _search(self, op: SearchOp) -> list[SearchItem]:
        space, last = op.namespace_prefix, op.offset + op.limit
        tests: list[dict[str, Any]] = [{"user_id": space[-1]}]
        if space[0] != _PERSON:
            tests.append({"metadata": {"namespace": "/".join(space)}})
        tests += [{"metadata": {"value": {name: is_}}} for name, is_ in (op.filter or {}).items()]
        query = {"query": op.query, "top_k": last} if op.query else {}
        path = "/v3/memories/search/" if op.query else f"/v3/memories/?page_size={last}"
        rows = self._send("POST", path, filters={"AND": tests}, **query)["results"]
        rows = rows[op.offset : last]
        return [SearchItem(**_fields(row, space), score=row.get("score")) for row in rows]

    def _put(self, op: PutOp) -> None:
        user_id, known = op.namespace[-1], self._rows(op.namespace, op.key)
        path = f"/api/v1/memory/long_term/{known[0]['id']}" if known else ""
        if op.value is None:
            if known:
                self._send("DELETE", f"{path}?{httpx.QueryParams(user_id=user_id)}")
            return
        text, rest = _split(op.value)
        kept = {"key": op.key, "namespace": "/".join(op.namespace), **rest}
        if known:
            self._send("PATCH", path, user_id=user_id, content=text, metadata=kept)
        else:
            said = {"messages": [{"role": "user", "content": text}], "infer": False}
            self._send("POST", "/v3/memories/add/", user_id=user_id, metadata=kept, **said)

    def _send(self, method: str, path: str, **body: Any) -> Any:
        return self._center.request(method, path, json=body or None).raise_for_status().json()


def _split(value: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the memory's text and the metadata. A value without a text is stored as JSON."""
    for field in _TEXT_FIELDS:
        if isinstance(text := value.get(field), str):
            rest = {name: part for name, part in value.items() if name != field}
            return text, {"field": field, "value": rest}
    return json.dumps(dict(value), ensure_ascii=False), {"value": {}}


def _fields(row: Mapping[str, Any], namespace: tuple[str, ...]) -> dict[str, Any]:
    kept, value = row["metadata"], {"content": row["memory"]}
    if "field" in kept:
        value = {**kept["value"], kept["field"]: row["memory"]}
    elif "value" in kept:
        with contextlib.suppress(ValueError):  # the user may have edited the text
            value = json.loads(row["memory"])
    moments = {name: datetime.fromisoformat(row[name]) for name in ("created_at", "updated_at")}
    key = kept.get("key", row["id"])
    return {"key": key, "value": value, "namespace": namespace, **moments}
