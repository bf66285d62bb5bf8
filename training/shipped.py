"""Loads the shipped reader into PyTorch, so that training can continue from it.

The exported layers have 8 bits with one scale per block of 64. The loaded weights differ from the
trained ones by at most half a quantization step, which the first training steps correct.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper

from memories.reader.reading import DATA
from training.base import HIDDEN, Base
from training.model import Layer, Reader

_BLOCK, _ZERO = 64, 128


def copy_shipped(reader: Reader, folder: Path = DATA) -> None:
    """Replace all trained weights by those of the exported files, except the word vectors.

    Raise `KeyError` if a shape differs.
    """
    path = folder / "reader.onnx"
    model = onnx.load(str(path), load_external_data=False)  # the word vectors may be missing
    constants = {
        tensor.name: numpy_helper.to_array(tensor, base_dir=str(path.parent))
        for tensor in model.graph.initializer
        if not tensor.name.startswith("word")
    }
    inputs = {
        node.name.removesuffix("_Q8"): list(node.input)
        for node in model.graph.node
        if node.op_type == "MatMulNBits"
    }
    with torch.no_grad():
        _fill(reader.places, constants["places"])
        _fill(reader.segments, constants["segment_table"])
        _fill_norm(reader.eln, constants, "eln")
        for number, layer in enumerate(reader.layers):
            assert isinstance(layer, Layer)
            for part in ("qkv", "ao", "fi", "fo"):
                linear, name = getattr(layer, part), f"l{number}.{part}"
                packed, scales = inputs[f"{name}_product"][1:3]
                _fill(linear.weight, _unpacked(constants[packed], constants[scales], linear))
                _fill(linear.bias, constants[f"{name}.b"])
            for part in ("aln", "oln"):
                _fill_norm(getattr(layer, part), constants, f"l{number}.{part}")
        for part in ("token_head", "text_head"):
            head = getattr(reader, part)
            _fill(head.weight, constants[f"{part}.w"].T)
            _fill(head.bias, constants[f"{part}.b"])


def shipped_state(weights: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Return the shipped weights. `weights` are those of the base model, without word vectors."""
    base = Base(weights | {"emb.word": np.zeros((1, HIDDEN), np.float32)}, [], np.zeros(0), {})
    reader = Reader(base)
    copy_shipped(reader)
    return reader.state_dict()


def _unpacked(
    packed: NDArray[np.uint8], scales: NDArray[np.float32], linear: torch.nn.Linear
) -> NDArray[np.float32]:
    """Return the weight as (out, in); `packed` is (out, blocks, 64) with 128 for zero."""
    blocks = packed.reshape(linear.out_features, -1, _BLOCK).astype(np.float32) - _ZERO
    whole = blocks * scales.reshape(linear.out_features, -1, 1)
    return whole.reshape(linear.out_features, -1)[:, : linear.in_features]


def _fill_norm(
    norm: torch.nn.LayerNorm, constants: dict[str, NDArray[np.float32]], name: str
) -> None:
    _fill(norm.weight, constants[f"{name}.w"])
    _fill(norm.bias, constants[f"{name}.b"])


def _fill(target: torch.Tensor, values: NDArray[np.float32]) -> None:
    if tuple(target.shape) != values.shape:
        raise KeyError(f"{values.shape} where {tuple(target.shape)} is expected")
    target.copy_(torch.tensor(values, dtype=torch.float32))
