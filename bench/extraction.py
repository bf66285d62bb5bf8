"""Extraction: does a turn yield the memories that a thoughtful person would want, and no others?

    .venv/bin/python bench/extraction.py [--method bundled|configured] [--show dev]
                                         [--extra]

Each turn of `bench/data/extraction` is extracted alone. A found memory fits a label when it says
what it must and nothing that it must not; each label is taken by one memory at most, and what fits
no free label counts against precision. Optional labels count neither way. The part `report` is for
reporting only: its texts are never printed. `--extra` measures the turns of `extra-*.jsonl`, which
are all for developing: sarcasm, jokes, roleplay, hearsay and the plain facts that look like them.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.labelled import (
    LANGUAGES,
    PARTS,
    Groups,
    Label,
    folded,
    grouped,
    groups,
    prepare_django,
    print_table,
    read_rows,
    says_all,
    share,
)
from bench.product import print_result
from memories.extraction.types import Candidate, Extraction, Extractor, Said, TurnText

# MEMCENTER_IMPORTANCE_FLOOR: under it nothing is remembered unless it was asked for.
FLOOR = 0.3
METHODS = ("bundled", "configured")
_HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True)
class LabelledTurn:
    id: str
    part: str
    category: str
    turn: TurnText
    labels: tuple[Label, ...]
    refused: Groups
    secrets: tuple[str, ...]
    forget: tuple[Groups, ...]


@dataclass(frozen=True)
class Outcome:
    """What came of one turn. `fitting` pairs memories with the labels that they took."""

    of: LabelledTurn
    extraction: Extraction
    found: tuple[Candidate, ...]
    fitting: tuple[tuple[Candidate, Label], ...]
    also_said: tuple[Label, ...]
    foreign: int

    @property
    def category(self) -> str:
        return self.of.category

    @property
    def wanted(self) -> list[Label]:
        return [label for label in self.of.labels if not label.optional]

    @property
    def right(self) -> list[tuple[Candidate, Label]]:
        return [pair for pair in self.fitting if not pair[1].optional]

    @property
    def wrong(self) -> list[Candidate]:
        taken = [memory for memory, _ in self.fitting]
        return [memory for memory in self.found if not any(memory is one for one in taken)]

    @property
    def missed(self) -> list[Label]:
        taken = [label for _, label in self.fitting] + list(self.also_said)
        return [label for label in self.wanted if not any(label is one for one in taken)]

    @property
    def misfiled(self) -> list[Candidate]:
        """Right, but of a kind that none of the labels it fits would have."""
        return [memory for memory, _ in self.right if memory.kind not in self.kinds_of(memory)]

    def kinds_of(self, memory: Candidate) -> set[str]:
        fitted = [label.kinds for label in self.of.labels if label.fits(memory.content)]
        return set().union(*fitted)

    @property
    def leaked(self) -> bool:
        kept = _bare(repr((self.extraction.candidates, self.extraction.forget)))
        return any(_bare(secret) in kept for secret in self.of.secrets)

    @property
    def secrets_refused(self) -> bool:
        named = {refused.category for refused in self.extraction.refused}
        return not self.leaked and all(named & set(any_of) for any_of in self.of.refused)

    @property
    def forgets_met(self) -> int:
        texts = [f"{one.about} {one.quote}" for one in self.extraction.forget]
        return sum(any(says_all(text, wanted) for text in texts) for wanted in self.of.forget)


def _bare(text: str) -> str:
    return folded(text).replace(" ", "").replace("-", "")


def read_turns(language: str, *, extra: bool = False) -> list[LabelledTurn]:
    return [
        LabelledTurn(
            id=row["id"],
            part=row["part"],
            category=row["category"],
            turn=_turn(row["turn"]),
            labels=tuple(map(Label.of, row["labels"])),
            refused=groups(row.get("refused", ())),
            secrets=tuple(row.get("secrets", ())),
            forget=tuple(map(groups, row.get("forget", ()))),
        )
        for row in read_rows("extraction", f"extra-{language}" if extra else language)
    ]


def _turn(row: dict[str, Any]) -> TurnText:
    at = datetime.fromisoformat(row["spoken_at"])
    return TurnText(
        user=Said(row["user"], at),
        assistant=Said(row["assistant"], at + timedelta(seconds=5)),
        before=[Said(text, at - timedelta(minutes=1)) for text in row["before"]],
        before_assistant=row["before_assistant"],
    )


def outcome(labelled: LabelledTurn, *, extractor: Extractor, language: str) -> Outcome:
    extraction = extractor.extract(labelled.turn)
    found = tuple(one for one in extraction.candidates if one.explicit or one.importance >= FLOOR)
    fitting = tuple(fit(found, labelled.labels))
    taken = [label for _, label in fitting]
    return Outcome(
        of=labelled,
        extraction=extraction,
        found=found,
        fitting=fitting,
        also_said=tuple(
            label
            for label in labelled.labels
            if not any(label is one for one in taken) and _also_said(label, fitting)
        ),
        foreign=sum(not _in(language, memory, labelled.turn) for memory in found),
    )


def fit(found: Sequence[Candidate], labels: Sequence[Label]) -> Iterator[tuple[Candidate, Label]]:
    """The most labels that can each have a memory of its own, required ones first.

    Augmenting paths (Kuhn): a label may push a memory on to another label that it fits as well.
    """
    holder: dict[int, int] = {}  # memory -> label

    def place(label: int, tried: set[int]) -> bool:
        for memory, candidate in enumerate(found):
            if memory not in tried and labels[label].fits(candidate.content):
                tried.add(memory)
                if memory not in holder or place(holder[memory], tried):
                    holder[memory] = label
                    return True
        return False

    for label in sorted(range(len(labels)), key=lambda index: labels[index].optional):
        place(label, set())
    for memory, label in holder.items():
        yield found[memory], labels[label]


def _also_said(label: Label, fitting: Sequence[tuple[Candidate, Label]]) -> bool:
    """One memory may say in one sentence what two labels want."""
    return any(label.fits(memory.content) for memory, _ in fitting)


def _in(language: str, memory: Candidate, turn: TurnText) -> bool:
    """Words of the other language are kept only where the turn itself has them."""
    before = [one.text for one in turn.before]
    said = folded(" ".join([turn.user.text, turn.before_assistant, *before]))
    if language == "zh":
        return bool(_HAN.search(memory.content)) or all(
            word in said for word in folded(memory.content).split()
        )
    return all(sign in said for sign in _HAN.findall(memory.content))


def figures(outcomes: Sequence[Outcome]) -> dict[str, float | int | None]:
    right = [pair for one in outcomes for pair in one.right]
    wrong = sum(len(one.wrong) for one in outcomes)
    wanted = sum(len(one.wanted) for one in outcomes)
    missed = sum(len(one.missed) for one in outcomes)
    found = sum(len(one.found) for one in outcomes)
    secret = [one for one in outcomes if one.of.secrets]
    asked = sum(len(one.of.forget) for one in outcomes)
    return {
        "turns": len(outcomes),
        "labels": wanted,
        "found": found,
        "precision": share(len(right), len(right) + wrong),
        "recall": share(wanted - missed, wanted),
        "kind": share(len(right) - sum(len(one.misfiled) for one in outcomes), len(right)),
        "secrets_refused": share(sum(one.secrets_refused for one in secret), len(secret)),
        "leaked": sum(one.leaked for one in outcomes),
        "language_kept": share(found - sum(one.foreign for one in outcomes), found),
        "forget": share(sum(one.forgets_met for one in outcomes), asked),
        "false_refusals": sum(
            bool(one.extraction.refused) and not one.of.refused for one in outcomes
        ),
        "false_forgets": sum(bool(one.extraction.forget) and not one.of.forget for one in outcomes),
    }


_NARROW = ("turns", "labels", "found", "precision", "recall", "kind")
_WIDE = ("secrets_refused", "leaked", "language_kept", "forget", "false_refusals", "false_forgets")


def print_outcomes(outcomes: Sequence[Outcome], *, title: str) -> dict[str, float | int | None]:
    total = figures(outcomes)
    rows = {name: figures(group) for name, group in grouped(outcomes, by="category").items()}
    print(f"\n{title}")
    table = {**dict(sorted(rows.items())), "all": total}
    print_table({name: {key: row[key] for key in _NARROW} for name, row in table.items()})
    print("; ".join(f"{key} {total[key]}" for key in _WIDE))
    return total


def print_failures(outcomes: Sequence[Outcome]) -> None:
    for one in outcomes:
        odd = odd_things(one)
        if odd:
            print(f"\n{one.of.id} [{one.category}] {one.of.turn.user.text!r}")
            if one.of.turn.before_assistant:
                print(f"    after the assistant's {one.of.turn.before_assistant!r}")
            print("\n".join(f"    {line}" for line in odd))


def odd_things(one: Outcome) -> list[str]:
    wrong = [f"wrong   {m.kind}: {m.content}  ({', '.join(m.reasons)})" for m in one.wrong]
    missed = [
        f"missed  {'/'.join(sorted(label.kinds))}: {' & '.join('|'.join(g) for g in label.must)}"
        for label in one.missed
    ]
    kinds = [
        f"kind    {memory.kind}, not {'/'.join(sorted(one.kinds_of(memory)))}: {memory.content}"
        for memory in one.misfiled
    ]
    other = {
        "secret  kept or not reported": bool(one.of.secrets) and not one.secrets_refused,
        "secret  refused where there is none": bool(one.extraction.refused) and not one.of.refused,
        "forget  not understood": one.forgets_met < len(one.of.forget),
        "forget  understood where not asked": bool(one.extraction.forget) and not one.of.forget,
        "language of the memory isn't the turn's": one.foreign > 0,
    }
    return [*wrong, *missed, *kinds, *(name for name, holds in other.items() if holds)]


def chosen(method: str) -> Extractor:
    prepare_django()
    from memories import language_steps

    return (
        language_steps.extractor() if method == "configured" else language_steps.bundled_extractor()
    )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--method", choices=METHODS, default="bundled")
    parser.add_argument("--show", choices=["dev"], help="list what went wrong in this part")
    parser.add_argument("--extra", action="store_true", help="the extra turns, all for developing")
    options = parser.parse_args(arguments)
    extractor = chosen(options.method)
    reported = {}
    for language in LANGUAGES:
        turns = read_turns(language, extra=options.extra)
        outcomes = [outcome(one, extractor=extractor, language=language) for one in turns]
        for part in PARTS[:1] if options.extra else PARTS:
            of_part = [one for one in outcomes if one.of.part == part]
            if options.show == part:
                print_failures(of_part)
            reported[language, part] = print_outcomes(
                of_part, title=f"{language}, {part}, {extractor.name}, {options.method}"
            )
    part = "dev" if options.extra else "report"
    print_result({language: reported[language, part] for language in LANGUAGES})


if __name__ == "__main__":
    main(sys.argv[1:])
