"""Our dialogues with labelled questions, in `bench/data/retrieval` (see `bench/data/README.md`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "retrieval"
APART = timedelta(minutes=1)
_TURN = re.compile(r"(\d+) (\S+?): (.+)")


@dataclass(frozen=True)
class DialogueTurn:
    """One turn. `id` is `<dialogue>:<session>.<turn>`."""

    id: str
    session: str
    position: int
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True)
class Question:
    group: str  # single | multi | temporal | open
    text: str
    wanted: frozenset[str]


@dataclass(frozen=True)
class Dialogue:
    name: str
    speakers: tuple[str, ...]
    turns: tuple[DialogueTurn, ...]
    questions: tuple[Question, ...]

    @property
    def language(self) -> str:
        return self.name.split("-")[0]


def load(folder: Path = FOLDER) -> list[Dialogue]:
    return [read(path) for path in sorted(folder.glob("??-*.txt"))]


def read(path: Path) -> Dialogue:
    """Read a dialogue. Raise `ValueError` for a misnumbered turn or an unknown evidence id."""
    head, *rest = path.read_text(encoding="utf-8").splitlines()
    speakers = tuple(name.strip() for name in head.split(","))
    said, _, asked = "\n".join(rest).partition("\n?\n")
    turns = tuple(_turns(said, name=path.stem, speakers=speakers))
    known = {turn.id for turn in turns}
    questions = tuple(_question(line, name=path.stem) for line in asked.splitlines() if line)
    for question in questions:
        if not question.wanted or question.wanted - known:
            raise ValueError(f"{path.name}: {question.text} has marks that point nowhere")
    return Dialogue(path.stem, speakers, turns, questions)


def among_strangers(dialogue: Dialogue, others: Sequence[Dialogue]) -> Dialogue:
    """Return the dialogue with the turns of `others` added as distractors.

    A single dialogue is too small to test retrieval. The speakers of `others` are renamed to those
    of `dialogue`, so that names don't reveal which turns belong to it.
    """
    turns = list(dialogue.turns)
    for other in others:
        names = dict(zip(other.speakers, dialogue.speakers, strict=True))
        turns += [_renamed(turn, names) for turn in other.turns]
    return replace(dialogue, turns=tuple(turns))


def _renamed(said: DialogueTurn, names: dict[str, str]) -> DialogueTurn:
    text = said.text
    for old, new in names.items():
        text = text.replace(old, new)
    return replace(said, speaker=names[said.speaker], text=text)


def _turns(said: str, *, name: str, speakers: Sequence[str]) -> Iterator[DialogueTurn]:
    initials = {speaker[0]: speaker for speaker in speakers}
    for number, session in enumerate(said.split("== ")[1:], start=1):
        head, *lines = session.strip().splitlines()
        began = datetime.strptime(head.strip(), "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
        for position, line in enumerate(lines, start=1):
            found = _TURN.fullmatch(line.strip())
            if found is None or int(found[1]) != position:
                raise ValueError(f"{name}: session {number}, turn {position} can't be read")
            yield DialogueTurn(
                id=f"{name}:{number}.{position}",
                session=f"{name}:{number}",
                position=position,
                speaker=initials[found[2]],
                text=found[3],
                at=began + (position - 1) * APART,
            )


def _question(line: str, *, name: str) -> Question:
    group, text, marks = (part.strip() for part in line.split(" | "))
    return Question(group, text, frozenset(f"{name}:{mark}" for mark in marks.split()))
