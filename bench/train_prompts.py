"""Train the selection of memories for a prompt: a map of the prompt's vector, and weights.

    .venv/bin/python bench/train_prompts.py [--write] [FILE...]

The training data are the people of `training/data/block` (see `bench/block.py`), and the questions
and chatter of `train_statements.py`. An affine map of low rank is applied to the prompt's vector.
A logistic regression weighs the cosine of the mapped vector and the other `EvidenceFeatures`. Both
are trained together (Adam, Kingma and Ba 2015). Every memory labelled as wanted or out of place
counts once. Memories that the product always includes are left out of the training: constraints,
pinned memories, and wishes about the manner of answers as the reader detects them.

Each file has one writer. The printed figures are cross-validated by file. The threshold is chosen
on the other files, so that a share of `OUT_OF_PLACE` of the memories shown there is out of place.
`--write` trains on all files and takes the bias from the log-odds of the held-out files.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import block, floor, train_statements
from bench.floor import Line
from bench.labelled import share
from bench.product import print_result
from foundation.providers.embedders import BundledEmbedder
from memories.extraction.bundled import BundledExtractor
from memories.reader.reading import reader
from memories.retrieval.evidence import EvidenceFeatures

Floats = NDArray[np.float64]
Parameters = dict[str, Floats]
DATA = train_statements.ROOT / "training" / "data" / "block"
RANK, EPOCHS, BATCH, STEP, DECAY, DROPPED = 32, 40, 256, 3e-3, 0.3, 0.5
PARTS = 2  # folds of the training files, for choosing the threshold
OUT_OF_PLACE = 0.067
CHATTER = 0.15  # weight of a memory in a chatter row
SIGNS = {
    "matched": "share",
    "concept": "concept",
    "personal": "personal",
    "beside": "beside",
    "length": "length",
    "rare": "rare",
}


@dataclass(frozen=True)
class Table:
    """One row per prompt and memory. `wanted` is 1 (wanted), 0 (out of place) or nan (unlabelled).

    Rows with `always` are in every block and need no training. `ordinary` marks memories that have
    to be found by relevance: not a constraint, not pinned, and not wanted by every prompt.
    """

    file: NDArray[np.int64]
    language: NDArray[np.str_]
    prompts: Floats
    memories: Floats
    signs: Floats
    wanted: Floats
    counting: Floats
    always: NDArray[np.bool_]
    ordinary: NDArray[np.bool_]

    def where(self, rows: NDArray[np.bool_]) -> Table:
        return replace(self, **{name: values[rows] for name, values in vars(self).items()})


def main(paths: Sequence[Path], *, write: bool) -> None:
    files = [block.read(path) for path in paths]
    labelled = _joined(
        [row for at, file in enumerate(files) for person in file for row in _rows(person, at)]
    )
    asked = _joined(list(_asked()))
    passed = np.zeros(len(labelled.file), dtype=bool)
    odds = np.zeros(len(labelled.file))
    for file in range(len(files)):
        unseen = labelled.file == file
        others = labelled.where(~unseen)
        least = _threshold(others, _held_out(others, asked))
        odds[unseen] = _odds(_learn(others, asked), labelled.where(unseen))
        passed[unseen] = odds[unseen] >= least
    figures = {
        str(language): _figures(labelled, passed, labelled.language == language)
        for language in np.unique(labelled.language)
    }
    if write:
        _write(_learn(labelled, asked), least=_threshold(labelled, odds))
    print_result({"files": len(files), "people": sum(map(len, files)), **figures})


def _held_out(rows: Table, asked: Table) -> Floats:
    """Return the log-odds of each row, by a model that was not trained on the row's file."""
    odds = np.zeros(len(rows.file))
    for part in range(PARTS):
        unseen = rows.file % PARTS == part
        odds[unseen] = _odds(_learn(rows.where(~unseen), asked), rows.where(unseen))
    return odds


def _rows(person: block.Person, file: int) -> Iterator[Table]:
    texts = [row["content"] for row in person.memories]
    wishes = BundledExtractor(reader(), embedder=BundledEmbedder())
    always = np.array(
        [
            row["kind"] == "constraint"
            or bool(row.get("pinned"))
            or wishes.says_how_to_answer(row["content"], kind=row["kind"])
            for row in person.memories
        ]
    )
    ordinary = np.array([person.group_of(place) == "ordinary" for place in range(len(texts))])
    lines = [
        Line("learn", row["prompt"], frozenset(texts[place] for place in row["must"]))
        for row in person.prompts
    ]
    cases = train_statements.cases(("", dict(enumerate(texts)), lines))
    for prompt, case in zip(person.prompts, cases, strict=True):
        wanted = np.full(len(texts), np.nan)
        wanted[list(prompt["must"])], wanted[list(prompt["must_not"])] = 1.0, 0.0
        table = _table(case, file, person.language, wanted)
        yield replace(table, always=always, ordinary=ordinary)


def _asked() -> Iterator[Table]:
    """Yield tables of questions and chatter.

    Answers to a question are wanted; its other memories are unlabelled. All memories are out of
    place for chatter.
    """
    for path in sorted(floor.FOLDER.glob("floor-*.txt")):
        memories, lines = floor.read(path)
        learn = [line for line in lines if line.part == "learn"]
        for case in train_statements.cases((path.stem, memories, learn)):
            answers = np.where(case.wanted, 1.0, np.nan)
            wanted = answers if case.wanted.any() else np.zeros(len(memories))
            yield _table(case, -1, "", wanted)


def _table(case: train_statements.Case, file: int, language: str, wanted: Floats) -> Table:
    size = len(wanted)
    counting = np.full(size, 1.0 if file >= 0 or case.wanted.any() else CHATTER)
    return Table(
        np.full(size, file),
        np.full(size, language, dtype="U2"),
        np.repeat(case.question[None], size, axis=0),
        case.memories,
        _signs(case.features),
        wanted,
        counting,
        np.zeros(size, dtype=bool),
        np.zeros(size, dtype=bool),
    )


def _signs(signs: EvidenceFeatures) -> Floats:
    return np.stack([getattr(signs, name) for name in SIGNS], axis=1)


def _joined(tables: Sequence[Table]) -> Table:
    names = vars(tables[0])
    return Table(
        **{name: np.concatenate([vars(table)[name] for table in tables]) for name in names}
    )


def _learn(*tables: Table) -> Parameters:
    rows = _joined([table.where(~table.always & ~np.isnan(table.wanted)) for table in tables])
    random = np.random.default_rng(0)
    size = rows.prompts.shape[1]
    now: Parameters = {
        "into": random.normal(0, 0.02, (size, RANK)),
        "out": random.normal(0, 0.02, (RANK, size)),
        "shift": np.zeros(size),
        "signs": np.zeros(rows.signs.shape[1]),
        "cosine": np.array(12.0),
        "bias": np.array(-2.0),
    }
    first = {name: np.zeros_like(value) for name, value in now.items()}
    second = {name: np.zeros_like(value) for name, value in now.items()}
    done = 0
    for _ in range(EPOCHS):
        order = random.permutation(len(rows.file))
        for start in range(0, len(order), BATCH):
            done += 1
            kept = random.random((len(order[start : start + BATCH]), size)) > DROPPED
            for name, slope in _slopes(now, rows, order[start : start + BATCH], kept).items():
                first[name] = 0.9 * first[name] + 0.1 * slope
                second[name] = 0.999 * second[name] + 0.001 * slope**2
                scaled = np.sqrt(second[name] / (1 - 0.999**done)) + 1e-8
                if name in ("into", "out", "shift"):
                    now[name] = now[name] * (1 - STEP * DECAY)
                now[name] = now[name] - STEP * first[name] / (1 - 0.9**done) / scaled
    return now


def _slopes(
    now: Parameters, rows: Table, batch: NDArray[np.int64], kept: NDArray[np.bool_]
) -> Parameters:
    """Return the gradient of the mean log loss by each parameter."""
    asked = rows.prompts[batch] * kept / (1 - DROPPED)
    memories, signs = rows.memories[batch], rows.signs[batch]
    moved = _moved(now, asked)
    length = np.linalg.norm(moved, axis=1, keepdims=True)
    unit = moved / length
    cosine = (unit * memories).sum(1)
    likely = 1 / (1 + np.exp(-(now["bias"] + now["cosine"] * cosine + signs @ now["signs"])))
    wrong = rows.counting[batch] * (likely - rows.wanted[batch]) / len(batch)
    pull = wrong[:, None] * now["cosine"] * (memories - cosine[:, None] * unit) / length
    return {
        "into": asked.T @ (pull @ now["out"].T),
        "out": (asked @ now["into"]).T @ pull,
        "shift": pull.sum(0),
        "signs": signs.T @ wrong,
        "cosine": np.array((wrong * cosine).sum()),
        "bias": np.array(wrong.sum()),
    }


def _moved(now: Parameters, asked: Floats) -> Floats:
    moved: Floats = asked + asked @ now["into"] @ now["out"] + now["shift"]
    return moved


def _odds(now: Parameters, rows: Table) -> Floats:
    moved = _moved(now, rows.prompts)
    cosine = (moved * rows.memories).sum(1) / np.linalg.norm(moved, axis=1)
    odds: Floats = now["bias"] + now["cosine"] * cosine + rows.signs @ now["signs"]
    return odds


def _threshold(rows: Table, odds: Floats) -> float:
    """Return the lowest allowed threshold of the log-odds from which a memory is shown.

    At an allowed threshold, at most the share `OUT_OF_PLACE` of the shown memories is out of place.
    """
    fitting = [
        least
        for least in np.quantile(odds, np.linspace(0.2, 1, 400)).tolist()
        if _out_of_place(rows, odds >= least) <= OUT_OF_PLACE
    ]
    return float(min(fitting))


def _out_of_place(rows: Table, passed: NDArray[np.bool_]) -> float:
    shown = rows.always | passed
    return float((rows.wanted[shown] == 0).mean())


def _figures(
    rows: Table, passed: NDArray[np.bool_], of_language: NDArray[np.bool_]
) -> dict[str, float | None]:
    shown, wanted = (rows.always | passed) & of_language, (rows.wanted == 1) & of_language
    ordinary = wanted & rows.ordinary
    wrong = (rows.wanted == 0) & shown
    return {
        "must": share(int((shown & wanted).sum()), int(wanted.sum())),
        "must ordinary": share(int((shown & ordinary).sum()), int(ordinary.sum())),
        "must not": share(int(wrong.sum()), int(shown.sum())),
    }


def _write(now: Parameters, *, least: float) -> None:
    into, out, shift = (now[name].astype(np.float16) for name in ("into", "out", "shift"))
    np.savez(train_statements.TARGET / "prompt_map.npz", into=into, out=out, shift=shift)
    signs = dict(zip(SIGNS.values(), now["signs"].round(2).tolist(), strict=True))
    weights = {
        "bias": round(float(now["bias"]) - least, 2),
        "cosine": round(float(now["cosine"]), 2),
        **signs,
    }
    path = train_statements.TARGET / "prompt_weights.json"
    path.write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(DATA.glob("*.jsonl")))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    main(options.files, write=options.write)
