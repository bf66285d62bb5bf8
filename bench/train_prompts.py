"""Learns which memories help with a prompt: a map of the prompt's vector, and the evidence.

    .venv/bin/python bench/train_prompts.py [--write] [FILE...]

From the people of `training/data/block` (`bench/block.py` says what they are) and the questions and
chatter that `train_statements.py` learns from. The prompt's vector is moved by an affine map of low
rank; the cosine of the moved vector and what else speaks for a memory (`Signs`) are weighed by a
logistic regression; both are learned together (Adam, Kingma and Ba 2015), each memory that is
wanted or out of place counting once. The bias is set so that of the points shown to people who
were not learned from `OUT_OF_PLACE` are out of place; without `--write` only that is printed.
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
from memories.retrieval.evidence import Signs

Floats = NDArray[np.float64]
Parameters = dict[str, Floats]
DATA = train_statements.ROOT / "training" / "data" / "block"
RANK, EPOCHS, BATCH, STEP, DECAY, DROPPED = 32, 40, 256, 3e-3, 0.3, 0.5
PARTS = 5  # of the people; each is judged by what was learned from the others
OUT_OF_PLACE = 0.048
CHATTER = 0.15  # how much a memory beside chatter counts
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
    """One row for each prompt and memory. `wanted` is 1, 0, or nan where it doesn't matter.

    What is in every block needs no learning: such rows have `always` set.
    """

    group: NDArray[np.int64]
    language: NDArray[np.str_]
    prompts: Floats
    memories: Floats
    signs: Floats
    wanted: Floats
    counting: Floats
    always: NDArray[np.bool_]

    def where(self, rows: NDArray[np.bool_]) -> Table:
        return replace(self, **{name: values[rows] for name, values in vars(self).items()})


def main(paths: Sequence[Path], *, write: bool) -> None:
    people = [person for path in paths for person in block.read(path)]
    told = _joined([row for place, one in enumerate(people) for row in _rows(one, place)])
    asked = _joined(list(_asked()))
    odds = np.zeros(len(told.group))
    for part in range(PARTS):
        unseen = told.group % PARTS == part
        learned = _learn(told.where(~unseen), asked)
        odds[unseen] = _odds(learned, told.where(unseen))
    least = _threshold(told, odds)
    figures = {
        str(language): _figures(told, odds >= least, told.language == language)
        for language in np.unique(told.language)
    }
    if write:
        _write(_learn(told, asked), least=least)
    print_result({"people": len(people), "least": round(least, 3), **figures})


def _rows(person: block.Person, group: int) -> Iterator[Table]:
    """Wishes on how to be answered are those that every prompt of the person needs."""
    texts = [one["content"] for one in person.memories]
    everywhere = set.intersection(*(set(one["must"]) for one in person.prompts))
    always = np.array(
        [
            one["kind"] == "constraint" or bool(one.get("pinned")) or place in everywhere
            for place, one in enumerate(person.memories)
        ]
    )
    lines = [
        Line("learn", one["prompt"], frozenset(texts[place] for place in one["must"]))
        for one in person.prompts
    ]
    cases = train_statements.cases(("", dict(enumerate(texts)), lines))
    for prompt, case in zip(person.prompts, cases, strict=True):
        wanted = np.full(len(texts), np.nan)
        wanted[list(prompt["must"])], wanted[list(prompt["must_not"])] = 1.0, 0.0
        yield _table(case, group, person.language, wanted, always)


def _asked() -> Iterator[Table]:
    """What answers a question helps with it, and chatter needs nothing; the rest is not known."""
    for path in sorted(floor.FOLDER.glob("floor-*.txt")):
        memories, lines = floor.read(path)
        learn = [line for line in lines if line.part == "learn"]
        for case in train_statements.cases((path.stem, memories, learn)):
            answers = np.where(case.wanted, 1.0, np.nan)
            wanted = answers if case.wanted.any() else np.zeros(len(memories))
            yield _table(case, -1, "", wanted, np.zeros(len(memories), dtype=bool))


def _table(
    case: train_statements.Case,
    group: int,
    language: str,
    wanted: Floats,
    always: NDArray[np.bool_],
) -> Table:
    size = len(wanted)
    counting = np.full(size, 1.0 if group >= 0 or case.wanted.any() else CHATTER)
    return Table(
        np.full(size, group),
        np.full(size, language, dtype="U2"),
        np.repeat(case.question[None], size, axis=0),
        case.memories,
        _signs(case.signs),
        wanted,
        counting,
        always,
    )


def _signs(signs: Signs) -> Floats:
    return np.stack([getattr(signs, name) for name in SIGNS], axis=1)


def _joined(tables: Sequence[Table]) -> Table:
    names = vars(tables[0])
    return Table(**{name: np.concatenate([vars(one)[name] for one in tables]) for name in names})


def _learn(*tables: Table) -> Parameters:
    rows = _joined([one.where(~one.always & ~np.isnan(one.wanted)) for one in tables])
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
        order = random.permutation(len(rows.group))
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
    """Of the mean log loss, by each parameter."""
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
    """The lowest at which no more than `OUT_OF_PLACE` of what is shown is out of place."""
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
    found = int((shown & wanted).sum())
    wrong = int((rows.wanted[shown] == 0).sum())
    return {
        "must": share(found, int(wanted.sum())),
        "must not": share(wrong, int(shown.sum())),
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
