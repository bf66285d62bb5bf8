"""Writes a reader: an ONNX graph, weights, and a vocabulary of the supported scripts.

    .venv-train/bin/python -m training.export FOLDER STUDENT=SHARE ... [shipped=SHARE]

The reader is the weighted mean of students of `training.ensemble` and of the shipped reader. If all
of them were trained from the same pretrained weights, their mean is usually at least as good as
each (Wortsman et al., 2022, "Model soups"). The shares must sum to 1.

The weights are stored outside the graph, so that onnxruntime maps them into memory. The word
vectors don't change with the training.

The graph uses onnxruntime's fused operators. The word table is exact in 4 bits: training leaves it
frozen, and the base stores it in blocks of 32 with one scale each (Q4_0). The weights of the layers
and the activations have one scale per block of 64. With a single scale (dynamic quantization), a
few large activations of this encoder cost two to three points.
"""

import argparse
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

from memories.reader.statements import FLAGS, PAIRS, SPAN_HEADS, TAGS
from memories.reader.tokenizer import Tokenizer
from training import shipped
from training.base import HEADS, HIDDEN, Base, load
from training.members import saved_in_parts
from training.model import Layer, Reader

FUSED = "com.microsoft"
WORDS, LAYERS = "words.weights", "layers.weights"
STATES = 8  # the layer, from 0, whose states are an output; the head of secrets reads them
_SMALL = 1024  # bytes; smaller constants stay in the graph
OUTPUTS: dict[str, list[Any]] = {
    "token_scores": ["batch", "length", None],
    "text_scores": ["batch", None],
    "vector": ["batch", HIDDEN],
    "states": ["batch", "length", HIDDEN],
}
LETTERS = (
    *("LATIN", "CJK", "HIRAGANA", "KATAKANA", "IDEOGRAPHIC", "FULLWIDTH LATIN"),
    *("HALFWIDTH KATAKANA", "COMBINING", "MODIFIER LETTER", "VARIATION SELECTOR", "KANGXI"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", nargs="+")
    given = parser.parse_args()
    base = load()
    reader = Reader(base)
    mix(reader, given.parts)
    write(reader, base, given.folder)


def mix(reader: Reader, parts: Sequence[str]) -> None:
    """Set the weights of the reader to the weighted mean of the parts, such as `STUDENT=0.5`."""
    mean: dict[str, torch.Tensor] = {}
    for part in parts:
        name, _, share = part.rpartition("=")
        if name == "shipped":
            shipped.copy_shipped(reader)
        else:
            reader.load_state_dict(saved_in_parts(Path(name)), strict=False)
        for key, value in reader.state_dict().items():
            mean[key] = mean.get(key, torch.zeros(())) + float(share) * value
    reader.load_state_dict(mean)


def write(reader: Reader, base: Base, folder: Path) -> None:
    """Write graph, weights and vocabulary to `folder`. Create the folder if necessary."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = [n for n, piece in enumerate(base.pieces) if n < 4 or _is_served(piece)]
    graph = Graph()
    graph.build(reader.eval(), base, kept)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("ids", "segments", "mask", "pooled")
    ]
    model = quantized(graph.model(inputs, OUTPUTS), ["token_head", "text_head"])
    helper.set_model_props(model, _about(base))
    _save(model, folder)
    pieces = [base.pieces[n].replace("\n", " ") for n in kept]
    scores = base.scores[kept].astype(np.float16).tolist()
    Tokenizer.of(pieces, scores, base.normal).save(folder)
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{len(kept):,} pieces, {size / 1e6:.1f} MB")


def quantized(model: onnx.ModelProto, heads: list[str]) -> onnx.ModelProto:
    """Return the model with its weights in 8 bits, except those of the nodes `heads`."""
    quantizer = MatMulNBitsQuantizer(
        model,
        bits=8,
        block_size=64,
        is_symmetric=True,
        accuracy_level=4,  # multiplies in int8, with a scale for each block of activations
        nodes_to_exclude=heads,
    )
    quantizer.process()
    return quantizer.model.model


def _save(model: onnx.ModelProto, folder: Path) -> None:
    for name in (WORDS, LAYERS):
        (folder / name).unlink(missing_ok=True)  # onnx appends to existing files
    for tensor in model.graph.initializer:
        if len(tensor.raw_data) > _SMALL:
            set_external_data(tensor, WORDS if tensor.name.startswith("word") else LAYERS)
    onnx.save(model, folder / "reader.onnx")
    for name in (WORDS, LAYERS):
        (folder / name).chmod(0o644)  # onnx makes them private


def _about(base: Base) -> dict[str, str]:
    normal = [f"{code:x} {text.encode().hex()}" for code, text in base.normal.items()]
    about = {
        "normal": "\n".join(normal),
        "tags": " ".join(TAGS),
        "flags": " ".join(FLAGS),
        "pairs": " ".join(PAIRS),
    }
    return about | {f"head.{name}": " ".join(answers) for name, answers in SPAN_HEADS.items()}


def _is_served(piece: str) -> bool:
    return len(piece) == 1 or all(map(_sign_is_served, piece))


def _sign_is_served(sign: str) -> bool:
    kind = unicodedata.category(sign)[0]
    return kind not in "LM" or unicodedata.name(sign, "").startswith(LETTERS)


class Graph:
    """Nodes and constants of the ONNX graph under construction."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def build(self, reader: Reader, base: Base, kept: list[int]) -> None:
        x = self._embedded(reader, base, kept)
        attend = self.add("Cast", ["mask"], to=TensorProto.INT32)
        for number, layer in enumerate(reader.layers):
            assert isinstance(layer, Layer)
            x = self.layer(x, attend, layer, f"l{number}")
            if number == min(STATES, len(reader.layers) - 1):
                self.nodes.append(helper.make_node("Identity", [x], ["states"]))
        weight = self.add("Unsqueeze", [self.add("Cast", ["pooled"], to=1), self.whole("two", [2])])
        one = self.whole("one", [1])
        total = self.add("ReduceSum", [self.add("Mul", [x, weight]), one], keepdims=0)
        mean = self.add("Div", [total, self.add("ReduceSum", [weight, one], keepdims=0)])
        self.head(x, reader.token_head, "token_head", "token_scores")
        self.head(mean, reader.text_head, "text_head", "text_scores")
        self.nodes.append(helper.make_node("Identity", [mean], ["vector"]))

    def model(
        self, inputs: list[onnx.ValueInfoProto], outputs: dict[str, list[Any]]
    ) -> onnx.ModelProto:
        """Return the graph as a model of opset 21; `outputs` maps names to their shapes."""
        results = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in outputs.items()
        ]
        graph = helper.make_graph(self.nodes, "reader", inputs, results, self.constants)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(FUSED, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def add(self, op: str, inputs: list[str], outputs: int = 1, **options: Any) -> Any:
        """Add a node. Return the name of its output, or a list of names."""
        name = options.pop("name", None) or f"{op}_{len(self.nodes)}"
        names = [f"{name}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=name, **options))
        return names[0] if outputs == 1 else names

    def number(self, name: str, value: Any) -> str:
        """Add a float32 constant and return its name."""
        array = np.ascontiguousarray(np.asarray(value, np.float32))
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def whole(self, name: str, value: list[int]) -> str:
        """Add an int64 constant, unless it exists, and return its name."""
        if name not in {c.name for c in self.constants}:
            self.constants.append(numpy_helper.from_array(np.array(value, np.int64), name))
        return name

    def _embedded(self, reader: Reader, base: Base, kept: list[int]) -> str:
        table = base.tensors["emb.word"][kept]
        packed, scale = _four_bits(table)
        self.constants += [packed, numpy_helper.from_array(scale, "word_scales")]
        words = self.add(
            "GatherBlockQuantized",
            ["words", "ids", "word_scales"],
            domain=FUSED,
            block_size=32,
            gather_axis=0,
            quantize_axis=1,
        )
        words = self.add("Cast", [words], to=TensorProto.FLOAT)
        length = self.add("Shape", ["ids"], start=1, end=2)
        places = self.number("places", reader.places.detach().numpy())
        first, axis = self.whole("zero", [0]), self.whole("zero", [0])
        place = self.add("Slice", [places, first, length, axis])
        segments = self.number("segment_table", reader.segments.detach().numpy())
        segment = self.add("Gather", [segments, "segments"])
        x = self.add("Add", [self.add("Add", [words, place]), segment])
        return str(self._norm(x, reader.eln, "eln"))

    def _norm(self, x: str, norm: Any, name: str) -> str:
        weights = [
            self.number(f"{name}.w", norm.weight.detach().numpy()),
            self.number(f"{name}.b", norm.bias.detach().numpy()),
        ]
        return str(self.add("LayerNormalization", [x, *weights], axis=-1, epsilon=1e-12))

    def layer(self, x: str, attend: str, layer: Layer, name: str) -> str:
        q, k, v = self.add(
            "Split", [self._linear(x, layer.qkv, f"{name}.qkv")], 3, axis=-1, num_outputs=3
        )
        mixed = self.add("MultiHeadAttention", [q, k, v, "", attend], domain=FUSED, num_heads=HEADS)
        x = self._skip(x, self._linear(mixed, layer.ao, f"{name}.ao"), layer.aln, f"{name}.aln")
        inner = self.add("Gelu", [self._linear(x, layer.fi, f"{name}.fi")], approximate="none")
        return self._skip(x, self._linear(inner, layer.fo, f"{name}.fo"), layer.oln, f"{name}.oln")

    def _skip(self, x: str, added: str, norm: Any, name: str) -> str:
        weights = [
            self.number(f"{name}.w", norm.weight.detach().numpy()),
            self.number(f"{name}.b", norm.bias.detach().numpy()),
        ]
        return str(
            self.add("SkipLayerNormalization", [x, added, *weights], domain=FUSED, epsilon=1e-12)
        )

    def _linear(self, x: str, linear: Any, name: str) -> str:
        weight = self.number(f"{name}.w", linear.weight.detach().numpy().T)
        product = self.add("MatMul", [x, weight], name=f"{name}_product")
        return str(
            self.add("Add", [product, self.number(f"{name}.b", linear.bias.detach().numpy())])
        )

    def head(self, x: str, linear: Any, name: str, output: str) -> None:
        weight = self.number(f"{name}.w", linear.weight.detach().numpy().T)
        product = self.add("MatMul", [x, weight], name=name)
        bias = self.number(f"{name}.b", linear.bias.detach().numpy())
        self.nodes.append(helper.make_node("Add", [product, bias], [output]))


def _four_bits(table: NDArray[np.float32]) -> tuple[onnx.TensorProto, NDArray[np.float16]]:
    block = table.reshape(len(table), -1, 32)
    most = np.take_along_axis(block, np.abs(block).argmax(-1)[..., None], -1)[..., 0]
    scale = np.where(most == 0, 1, most / -8)
    levels = np.rint(block / scale[..., None]).astype(np.int8).view(np.uint8) & 15
    nibbles = levels.reshape(len(table), HIDDEN)
    packed = TensorProto(
        name="words",
        data_type=TensorProto.INT4,
        dims=[len(table), HIDDEN],
        raw_data=(nibbles[:, 0::2] | nibbles[:, 1::2] << 4).astype(np.uint8).tobytes(),
    )
    return packed, scale.astype(np.float16)


if __name__ == "__main__":
    main()
