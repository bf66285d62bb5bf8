"""Extraction: does a turn yield the memories that a thoughtful person would keep, and no others?

    .venv/bin/python bench/extraction.py [--method bundled|configured] [--show dev]
                                         [--extra]

Each turn of `bench/data/extraction` is extracted separately. A memory fits a label if it contains
all `must` keywords and no `must_not` keyword. Each label is matched with at most one memory; a
memory that fits no free label lowers the precision. An optional label may be missed, and a memory
that fits it counts neither as right nor as wrong. The part `report` is for reporting only; its
texts are never printed. `--extra` measures the turns of `extra-*.jsonl`, which are all for
development: sarcasm, jokes, roleplay, hearsay, and plain facts that look like them.
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
from memories.extraction.types import Candidate, Extraction, Extractor, TurnText, Utterance

# MEMCENTER_IMPORTANCE_FLOOR: less important candidates are kept only on an explicit request.
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
class TurnResult:
    """The result of one turn.

    `fitting` pairs memories with their matched labels. `also_said` are the unmatched labels that a
    memory fits although it is matched with another label. `foreign` counts the memories in another
    language than the turn.
    """

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
        return [memory for memory in self.found if not any(memory is fitted for fitted in taken)]

    @property
    def missed(self) -> list[Label]:
        taken = [label for _, label in self.fitting] + list(self.also_said)
        return [label for label in self.wanted if not any(label is found for found in taken)]

    @property
    def misfiled(self) -> list[Candidate]:
        """The right memories with a kind that no fitting label allows."""
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
        texts = [f"{request.about} {request.quote}" for request in self.extraction.forget]
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
        user=Utterance(row["user"], at),
        assistant=Utterance(row["assistant"], at + timedelta(seconds=5)),
        before=[Utterance(text, at - timedelta(minutes=1)) for text in row["before"]],
        before_assistant=row["before_assistant"],
    )


def outcome(labelled: LabelledTurn, *, extractor: Extractor, language: str) -> TurnResult:
    extraction = extractor.extract(labelled.turn)
    found = tuple(
        candidate
        for candidate in extraction.candidates
        if candidate.explicit or candidate.importance >= FLOOR
    )
    fitting = tuple(fit(found, labelled.labels))
    taken = [label for _, label in fitting]
    return TurnResult(
        of=labelled,
        extraction=extraction,
        found=found,
        fitting=fitting,
        also_said=tuple(
            label
            for label in labelled.labels
            if not any(label is other for other in taken) and _also_said(label, fitting)
        ),
        foreign=sum(not _in(language, memory, labelled.turn) for memory in found),
    )


def fit(found: Sequence[Candidate], labels: Sequence[Label]) -> Iterator[tuple[Candidate, Label]]:
    """Yield a maximum matching of memories and labels; required labels are matched first.

    Kuhn's algorithm (augmenting paths) is used: a label may take a memory from another label that
    can be matched with another memory instead.
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
    """Return whether a memory that is matched with another label also fits this one."""
    return any(label.fits(memory.content) for memory, _ in fitting)


def _in(language: str, memory: Candidate, turn: TurnText) -> bool:
    """Return whether a memory is in this language, apart from words that the turn contains."""
    before = [message.text for message in turn.before]
    text = folded(" ".join([turn.user.text, turn.before_assistant, *before]))
    if language == "zh":
        return bool(_HAN.search(memory.content)) or all(
            word in text for word in folded(memory.content).split()
        )
    return all(sign in text for sign in _HAN.findall(memory.content))


def figures(outcomes: Sequence[TurnResult]) -> dict[str, float | int | None]:
    right = [pair for result in outcomes for pair in result.right]
    wrong = sum(len(result.wrong) for result in outcomes)
    wanted = sum(len(result.wanted) for result in outcomes)
    missed = sum(len(result.missed) for result in outcomes)
    found = sum(len(result.found) for result in outcomes)
    secret = [result for result in outcomes if result.of.secrets]
    asked = sum(len(result.of.forget) for result in outcomes)
    return {
        "turns": len(outcomes),
        "labels": wanted,
        "found": found,
        "precision": share(len(right), len(right) + wrong),
        "recall": share(wanted - missed, wanted),
        "kind": share(len(right) - sum(len(result.misfiled) for result in outcomes), len(right)),
        "secrets_refused": share(sum(result.secrets_refused for result in secret), len(secret)),
        "leaked": sum(result.leaked for result in outcomes),
        "language_kept": share(found - sum(result.foreign for result in outcomes), found),
        "forget": share(sum(result.forgets_met for result in outcomes), asked),
        "false_refusals": sum(
            bool(result.extraction.refused) and not result.of.refused for result in outcomes
        ),
        "false_forgets": sum(
            bool(result.extraction.forget) and not result.of.forget for result in outcomes
        ),
    }


_NARROW = ("turns", "labels", "found", "precision", "recall", "kind")
_WIDE = ("secrets_refused", "leaked", "language_kept", "forget", "false_refusals", "false_forgets")


def print_outcomes(outcomes: Sequence[TurnResult], *, title: str) -> dict[str, float | int | None]:
    total = figures(outcomes)
    rows = {name: figures(group) for name, group in grouped(outcomes, by="category").items()}
    print(f"\n{title}")
    table = {**dict(sorted(rows.items())), "all": total}
    print_table({name: {key: row[key] for key in _NARROW} for name, row in table.items()})
    print("; ".join(f"{key} {total[key]}" for key in _WIDE))
    return total


def print_failures(outcomes: Sequence[TurnResult]) -> None:
    for result in outcomes:
        odd = odd_things(result)
        if odd:
            print(f"\n{result.of.id} [{result.category}] {result.of.turn.user.text!r}")
            if result.of.turn.before_assistant:
                print(f"    after the assistant's {result.of.turn.before_assistant!r}")
            print("\n".join(f"    {line}" for line in odd))


def odd_things(result: TurnResult) -> list[str]:
    wrong = [f"wrong   {m.kind}: {m.content}  ({', '.join(m.reasons)})" for m in result.wrong]
    missed = [
        f"missed  {'/'.join(sorted(label.kinds))}: {' & '.join('|'.join(g) for g in label.must)}"
        for label in result.missed
    ]
    kinds = [
        f"kind    {memory.kind}, not {'/'.join(sorted(result.kinds_of(memory)))}: {memory.content}"
        for memory in result.misfiled
    ]
    other = {
        "secret  kept or not reported": bool(result.of.secrets) and not result.secrets_refused,
        "secret  refused where there is none": bool(result.extraction.refused)
        and not result.of.refused,
        "forget  not understood": result.forgets_met < len(result.of.forget),
        "forget  understood where not asked": bool(result.extraction.forget)
        and not result.of.forget,
        "language of the memory isn't the turn's": result.foreign > 0,
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
