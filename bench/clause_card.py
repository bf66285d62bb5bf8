"""The model card of the clause classifier: how it does on voices that it never heard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LANGUAGES = {"en": "English", "zh": "Chinese"}
_THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
_BINS = 5


@dataclass(frozen=True)
class Held:
    """A clause judged by a model that never heard its voice. `name` is its true class."""

    language: str
    name: str
    keep: float
    kind: str
    reason: str

    @property
    def worth_it(self) -> bool:
        return not self.name.startswith("none")

    @property
    def judged(self) -> str:
        return self.kind if self.keep >= 0.5 else self.reason


def card(held: Sequence[Held], *, voices: int) -> str:
    lines = [
        "# Clause classifier",
        "",
        "Written by `bench/train_clauses.py`; don't edit. Multinomial logistic regression over the",
        "bundled embedder's vector of a clause, plain features and hashed words "
        "(`memories/extraction/classifier/`).",
        "It says whether a clause is worth remembering, as what kind, and if not, why not.",
        "",
        f"Trained on {len(held)} clauses of {voices} voices (`bench/data/clauses/`), all written "
        "for it by hand;",
        "none comes from the labelled sets, from LoCoMo or from MemoryBank. The figures are "
        "five-fold",
        "cross-validation over whole voices: no voice is both learned and tested.",
    ]
    for language, name in _LANGUAGES.items():
        rows = [one for one in held if one.language == language]
        if rows:
            lines += ["", f"## {name}", "", *_summary(rows), "", *_classes(rows)]
            lines += ["", *_calibration(rows)]
    lines += [
        "",
        "## Limits",
        "",
        "It sees one clause at a time. It was made for what people type to an assistant; other "
        "registers",
        "(news, contracts, code) were not tried. The rules' guards stand before it.",
        "",
    ]
    return "\n".join(lines)


def _summary(rows: Sequence[Held]) -> Iterator[str]:
    worth = sum(one.worth_it for one in rows)
    yield f"{len(rows)} clauses, {worth} of them worth remembering."
    yield ""
    yield "| kept from | precision | recall | kind right |"
    yield "|---|---|---|---|"
    for threshold in _THRESHOLDS:
        taken = [one for one in rows if one.keep >= threshold]
        right = [one for one in taken if one.worth_it]
        kinds = sum(one.kind == one.name for one in right)
        yield (
            f"| {threshold} | {_share(len(right), len(taken))} | {_share(len(right), worth)} "
            f"| {_share(kinds, len(right))} |"
        )


def _classes(rows: Sequence[Held]) -> Iterator[str]:
    yield "| class | clauses | precision | recall |"
    yield "|---|---|---|---|"
    true = Counter(one.name for one in rows)
    judged = Counter(one.judged for one in rows)
    right = Counter(one.name for one in rows if one.name == one.judged)
    for name in sorted(true):
        yield (
            f"| {name} | {true[name]} | {_share(right[name], judged[name])} "
            f"| {_share(right[name], true[name])} |"
        )


def _calibration(rows: Sequence[Held]) -> Iterator[str]:
    yield "| said | clauses | worth it |"
    yield "|---|---|---|"
    off = 0.0
    for low in (step / _BINS for step in range(_BINS)):
        of = [one for one in rows if low <= one.keep < low + 1 / _BINS + (low == 1 - 1 / _BINS)]
        worth = sum(one.worth_it for one in of)
        off += abs(sum(one.keep for one in of) - worth)
        yield f"| {low:.1f}–{low + 1 / _BINS:.1f} | {len(of)} | {_share(worth, len(of))} |"
    yield ""
    yield f"Expected calibration error: {off / len(rows):.3f}."


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "–"
