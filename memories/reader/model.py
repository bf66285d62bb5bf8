"""Run the encoder with onnxruntime: one instance a process, one thread.

Weights and vocabulary are memory-mapped, so processes share them, and only the word vectors in use
occupy memory. The layers are packed for the processor when they are loaded.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from memories.reader import labels
from memories.reader.inputs import Input
from memories.reader.tokenizer import Tokenizer

PATH = Path(__file__).parent / "data" / "reader.onnx"
Scores = NDArray[np.float32]


class Model:
    """Token scores and text scores of one input. Thread-safe."""

    def __init__(self, path: Path = PATH) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # Without the arena, the memory of a long message is released after reading it.
        options.enable_cpu_mem_arena = False
        self._session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        about = self._session.get_modelmeta().custom_metadata_map
        _check(about)
        self.tokenizer = Tokenizer.load(path.parent, _normal(about))

    def scores(self, one: Input) -> tuple[Scores, Scores]:
        """Return arrays of shape (length, TOKEN_OUTPUTS) and (TEXT_OUTPUTS,), before any
        softmax.
        """
        given = {
            "ids": [one.ids],
            "segments": [one.segments],
            "mask": [[1] * len(one.ids)],
            "pooled": [one.pooled],
        }
        arrays = {name: np.asarray(value, np.int64) for name, value in given.items()}
        tokens, texts = self._session.run(["token_scores", "text_scores"], arrays)
        return tokens[0], texts[0]


def _normal(about: Mapping[str, str]) -> dict[int, str]:
    normal = {}
    for line in about["normal"].splitlines():
        code, _, text = line.partition(" ")
        normal[int(code, 16)] = bytes.fromhex(text).decode()
    return normal


def _check(about: Mapping[str, str]) -> None:
    """Raise `ValueError` unless the file has the labels of this code, in the same order."""
    asked = {"tags": labels.TAGS, "flags": labels.FLAGS, "pairs": labels.PAIRS}
    asked |= {f"head.{name}": answers for name, answers in labels.SPAN_HEADS.items()}
    for name, answers in asked.items():
        if tuple(about[name].split()) != answers:
            raise ValueError(f"The reader's file answers another question: {name}")
