"""Train the search for short statements: a map of the question's vector, and weights.

    .venv/bin/python bench/train_statements.py [--write]

The training data are the part `learn` of `bench/data/retrieval/floor-*.txt`, the samples of the
tests and the 60 bilingual pairs of `pairs-learn.tsv`. The part `held-out` and the pairs of
`pairs.tsv` are never used. The map is a
ridge regression from a question's vector to the difference between its memory's vector and its own,
reduced to `RANK` dimensions. The weights of the evidence come from a logistic regression. Its
vectors are mapped by maps that were not trained on the same person, to avoid overfitting. The same
input gives the same numbers.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import floor
from bench.floor import Line
from bench.logistic import fit_logistic
from bench.product import print_result
from foundation.providers.embedders import BundledEmbedder
from foundation.text import segment
from memories.retrieval import signals
from memories.retrieval.evidence import EvidenceFeatures, evidence_features
from memories.retrieval.query import analyse
from memories.retrieval.ranking_types import Unit
from memories.retrieval.weights import COSINE_SCALES

Floats = NDArray[np.float64]
ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "memories/retrieval/data"
SAMPLES = ROOT / "tests/memories/retrieval/data"
RIDGE, RANK = 8.0, 64
LEARNED = ("bias", "cosine", "share", "concept", "personal", "beside", "length")
RARE = 10.0  # set by hand: a rare word is sufficient evidence, even without a vector
# Weights of a wanted memory, a memory in a chatter row, and one for an unanswerable question.
WANTED, CHATTER, UNKNOWN = 30.0, 10.0, 5.0
# Both files of a pair describe the same situation in two languages and are held out together.
TWINS = {
    "xuesheng": "student",
    "tuixiu": "retired",
    "siji": "trucker",
    "mama": "parent",
    "laoshi": "teacher",
    "chengxuyuan": "coder",
    "chushi": "chef",
}

# A person: the situation, the memories by number, and the questions.
Person = tuple[str, dict[int, str], list[Line]]


@dataclass(frozen=True)
class Case:
    """One question to one person: its vector, the memories' vectors, and the relevant memories."""

    situation: str
    question: Floats
    memories: Floats
    wanted: NDArray[np.bool_]
    features: EvidenceFeatures
    chinese: bool
    unknown: bool


def main(*, write: bool) -> None:
    people = [case for person in _people() for case in cases(person)]
    extra = list(_pairs())
    into, out = _map(people, extra)
    weights = _evidence(people, extra)
    if write:
        np.savez(TARGET / "question_map.npz", into=into, out=out)
        text = json.dumps(weights, indent=1) + "\n"
        (TARGET / "statement_weights.json").write_text(text, encoding="utf-8")
    print_result({"weights": weights, "questions": len(people), "pairs": len(extra)})


def _people() -> Iterator[Person]:
    for path in sorted(floor.FOLDER.glob("floor-*.txt")):
        memories, lines = floor.read(path)
        known = path.stem.rpartition("-")[2]
        learn = [line for line in lines if line.part == "learn"]
        yield TWINS.get(known, known if known in TWINS.values() else ""), memories, learn
    for path in sorted(SAMPLES.glob("samples.*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        asked = [Line("learn", question, frozenset([told])) for told, question in data["asked"]]
        chatter = [Line("learn", said, frozenset()) for said in data["unrelated"]]
        yield "", dict(enumerate(told for told, _ in data["asked"])), asked + chatter


def cases(person: Person) -> Iterator[Case]:
    situation, memories, lines = person
    texts = list(memories.values())
    vectors = _embed(texts)
    terms = [segment.terms(text) for text in texts]
    for line in lines:
        query = analyse(line.query)
        question = _embed([query.dense_text])[0]
        units = [
            Unit("memory", text, text, words, float(cosine), len(words))
            for text, words, cosine in zip(texts, terms, vectors @ question, strict=True)
        ]
        counts = signals.count_terms(query.terms, terms)
        corpus = signals.corpus_of(counts)
        found = evidence_features(query, units, counts=counts, corpus=corpus, with_concepts=True)
        wanted = np.array([text in line.wanted for text in texts])
        chinese = query.language == "zh"
        yield Case(situation, question, vectors, wanted, found, chinese, line.unknown)


def _pairs() -> Iterator[tuple[Floats, Floats]]:
    """Yield the vectors of each question and its memory, within and across languages."""
    rows = (floor.FOLDER / "pairs-learn.tsv").read_text(encoding="utf-8").splitlines()
    columns = list(zip(*(row.split("\t") for row in rows), strict=True))
    for questions in columns[2:]:
        asked = _embed([analyse(question).dense_text for question in questions])
        for memories in columns[:2]:
            yield from zip(asked, _embed(memories), strict=True)


def _embed(texts: Sequence[str]) -> Floats:
    return BundledEmbedder().embed(list(texts)).astype(float)


def _map(cases: Sequence[Case], extra: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return two thin matrices, whose product maps a question's vector to its correction."""
    told = [(case.question, case.memories[row]) for case in cases for row in _rows(case)]
    asked, answers = (np.array(side) for side in zip(*told, *extra, strict=True))
    inner = asked.T @ asked + RIDGE * np.eye(asked.shape[1])
    left, size, right = np.linalg.svd(np.linalg.solve(inner, asked.T @ (answers - asked)))
    root = np.sqrt(size[:RANK])
    return (left[:, :RANK] * root).astype(np.float16), (root[:, None] * right[:RANK]).astype(
        np.float16
    )


def _rows(case: Case) -> list[int]:
    rows: list[int] = np.flatnonzero(case.wanted).tolist()
    return rows


def _evidence(cases: Sequence[Case], extra: Sequence[tuple[Floats, Floats]]) -> dict[str, float]:
    tables, marks, rare = [], [], []
    for situation in sorted({case.situation for case in cases}):
        learned = _map([case for case in cases if case.situation != situation], extra)
        for case in cases:
            if case.situation == situation:
                tables.append(_table(case, learned))
                marks.append(np.stack([case.wanted, _counting(case)]))
                rare.append(RARE * case.features.rare)
    wanted, counting = np.concatenate(marks, axis=1)
    rows = np.vstack(tables)
    penalty = np.ones(rows.shape[1])
    penalty[0] = 1e-6  # the bias
    weights = fit_logistic(rows, wanted, penalty, counting=counting, given=np.concatenate(rare))
    return {"rare": RARE, **dict(zip(LEARNED, weights.round(2).tolist(), strict=True))}


def _counting(case: Case) -> Floats:
    unwanted = 1.0 if case.wanted.any() else UNKNOWN if case.unknown else CHATTER
    return np.where(case.wanted, WANTED, unwanted)


def _table(case: Case, learned: tuple[Floats, Floats]) -> Floats:
    into, out = (side.astype(float) for side in learned)
    vector = case.question + case.question @ into @ out
    cosine = case.memories @ (vector / np.linalg.norm(vector))
    scale = COSINE_SCALES["usem3"].of_statements
    shift = scale.chinese if case.chinese else 0.0
    relation = (cosine - shift - scale.unrelated) / (scale.related - scale.unrelated)
    found = case.features
    bias = np.ones(cosine.size)
    signs = (found.matched, found.concept, found.personal, found.beside, found.length)
    return np.stack([bias, relation, *signs], axis=1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    main(write=parser.parse_args().write)
