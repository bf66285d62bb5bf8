"""The questions for training and evaluating message ranking, with the features of every message.

The questions come from our dialogues (`bench/data/retrieval`, with the turns of the other dialogues
as distractors) and from MemoryBank's marked questions. LoCoMo is never used.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import dialogues
from bench.dialogues import Dialogue
from bench.memorybank import MARKS
from conversations.importing.formats import datasets
from foundation.providers.base import Vectors
from foundation.providers.embedders import BundledEmbedder
from foundation.text import segment
from memories.retrieval import messages, rerank
from memories.retrieval.query import analyse
from memories.retrieval.ranking_types import Unit
from memories.retrieval.weights import MessageWeights

Floats = NDArray[np.float64]
NAMES = tuple(one.name for one in fields(MessageWeights))


@dataclass(frozen=True)
class Case:
    """One question: the features of every unit (units x names), and the marked units.

    `asked` holds the features of the question itself (`rerank.question_features`).
    """

    group: str
    source: str
    ids: Sequence[str]
    features: Floats
    asked: Mapping[str, float]
    marked: NDArray[np.bool_]


@dataclass(frozen=True)
class Pool:
    name: str
    language: str
    speakers: Sequence[str]
    units: Sequence[Unit]
    questions: Sequence[tuple[str, str, frozenset[str]]]


def load(paths: Sequence[str]) -> list[Case]:
    """Return the cases of our dialogues and of the given MemoryBank files."""
    pools = [*_own(), *(pool for path in paths for pool in _memorybank(Path(path)))]
    return [case for pool in pools for case in _cases(pool)]


def _own() -> Iterator[Pool]:
    every_dialogue = dialogues.load()
    for dialogue in every_dialogue:
        others = [
            other
            for other in every_dialogue
            if other.language == dialogue.language and other is not dialogue
        ]
        joined = dialogues.among_strangers(dialogue, others)
        yield _pool_of(joined)


def _pool_of(dialogue: Dialogue) -> Pool:
    units = [
        Unit(
            *("message", said.id, said.text, segment.terms(said.text)),
            at=said.at,
            conversation=said.session,
            position=said.position,
            session=said.session,
            speaker=said.speaker,
        )
        for said in dialogue.turns
    ]
    asked = [(one.group, one.text, one.wanted) for one in dialogue.questions]
    return Pool(dialogue.name, dialogue.language, dialogue.speakers, units, asked)


def _memorybank(path: Path) -> Iterator[Pool]:
    language = {"cn": "zh"}.get(path.stem, path.stem)
    marks = json.loads(MARKS.read_text(encoding="utf-8"))["files"][path.name]["users"]
    raw = json.loads(path.read_text(encoding="utf-8"))
    people = datasets.read_memorybank(raw, report=lambda skipped: None)
    for person, row, answers in zip(people, raw, marks, strict=True):
        units = []
        for day in person.conversations:
            for place in range(0, len(day.messages) - 1, 2):
                said, reply = day.messages[place : place + 2]
                text = f"{said.content}\n{reply.content}"
                units.append(
                    Unit(
                        *("episode", said.client_id, text, segment.terms(text)),
                        at=said.created_at,
                        conversation=day.client_id,
                        position=place // 2 + 1,
                        session=day.client_id,
                    )
                )
        asked = [
            (f"memorybank-{language}", question, frozenset(f"{d}:{i}:query" for d, i in turns))
            for question, turns in zip(row["probing_questions"], answers, strict=True)
            if turns is not None
        ]
        yield Pool(f"memorybank-{language}-{person.name}", language, (), units, asked)


def _cases(pool: Pool) -> Iterator[Case]:
    embed = BundledEmbedder().embed
    vectors = _in_batches([unit.text for unit in pool.units])
    ids = [unit.id for unit in pool.units]
    for group, text, wanted in pool.questions:
        query = analyse(text, speakers=pool.speakers)
        cosines = vectors @ embed([query.dense_text])[0]
        terms = set(query.terms)
        units = [
            replace(
                unit,
                cosine=float(cosine),
                terms=[term for term in unit.terms if term in terms],
                length=len(unit.terms),
            )
            for unit, cosine in zip(pool.units, cosines, strict=True)
        ]
        found, _ = messages.features_of(query, units)
        table = np.stack([found[name] for name in NAMES], axis=1)
        marked = np.array([one in wanted for one in ids])
        kind = group if group.startswith("memorybank") else f"own-{pool.language}"
        yield Case(kind, pool.name, ids, table, rerank.question_features(query), marked)


def _in_batches(texts: Sequence[str], *, size: int = 64) -> Vectors:
    embed = BundledEmbedder().embed
    return np.vstack([embed(texts[start : start + size]) for start in range(0, len(texts), size)])
