"""The encoder as onnxruntime runs it: one file, one instance a process, one thread."""

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
    """Token scores and text scores of one input. Safe to use from several threads."""

    def __init__(self, path: Path = PATH) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # Without the arena what one long message took is given back when it has been read.
        options.enable_cpu_mem_arena = False
        self._session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        about = self._session.get_modelmeta().custom_metadata_map
        _check(about)
        self.tokenizer = _tokenizer(about)

    def scores(self, one: Input) -> tuple[Scores, Scores]:
        """Arrays of shape (length, TOKEN_OUTPUTS) and (TEXT_OUTPUTS,), before any softmax."""
        given = {
            "ids": [one.ids],
            "segments": [one.segments],
            "mask": [[1] * len(one.ids)],
            "pooled": [one.pooled],
        }
        arrays = {name: np.asarray(value, np.int64) for name, value in given.items()}
        tokens, texts = self._session.run(["token_scores", "text_scores"], arrays)
        return tokens[0], texts[0]


def _tokenizer(about: Mapping[str, str]) -> Tokenizer:
    scores = np.frombuffer(bytes.fromhex(about["scores"]), "<f2").astype(np.float32)
    normal = {}
    for line in about["normal"].splitlines():
        code, _, text = line.partition(" ")
        normal[int(code, 16)] = bytes.fromhex(text).decode()
    return Tokenizer(about["pieces"].split("\n"), scores.tolist(), normal)


def _check(about: Mapping[str, str]) -> None:
    """The file must answer what this code asks, in the same order."""
    asked = {"tags": labels.TAGS, "flags": labels.FLAGS, "pairs": labels.PAIRS}
    asked |= {f"head.{name}": answers for name, answers in labels.SPAN_HEADS.items()}
    for name, answers in asked.items():
        if tuple(about[name].split()) != answers:
            raise ValueError(f"The reader's file answers another question: {name}")
