"""Reads English: clauses in, statements that the rules took out, and the rest worded."""

import re
from collections.abc import Iterator
from dataclasses import replace

from memories.extraction.rules import en
from memories.extraction.rules import en_finding as finding
from memories.extraction.rules.en_clauses import Piece, Sentence, clauses
from memories.extraction.rules.en_complete import hangs_on_talk
from memories.extraction.rules.en_giving_up import given_up, gives_it_up
from memories.extraction.rules.en_grammar import SELF, Parsed, Subject, parse_clause
from memories.extraction.rules.en_introducing import Setting, introduced, introduction
from memories.extraction.rules.en_lists import parts_of, with_subject
from memories.extraction.rules.en_openers import Opened, opened
from memories.extraction.rules.en_readings import (
    named_in_passing,
    readings,
    shortened,
    typed_out,
)
from memories.extraction.rules.en_verbs import is_third_person, third_person
from memories.extraction.rules.en_words import IRREGULAR_PAST
from memories.extraction.rules.rule import OPEN, Found, Table

# "I'll rest and study well": what follows "and" still hangs on "will".
_GOVERNS = re.compile(
    r"(?:will|would|can|could|should|might|must|may|(?:wants|has|needs|hopes|plans|"
    r"tries|likes|loves|intends|"
    r"is (?:going|trying|planning|hoping|ready|able|excited)|would (?:like|love)|"
    r"decided|has decided|promised?) to)\b",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:(?<![ ,])[ ,]+(?:now|too|lately|recently|these days|nowadays|at the moment|right "
    r"now|currently|as well|though|haha|lol|actually|by the way|btw|"
    r"if (?:that|it) (?:helps|matters)|if that(?:'s| is) relevant|if you(?:'re| are) "
    r"wondering))+$",
    re.IGNORECASE,
)
_DOING = re.compile(r"(?:(?:currently|now|also|still|just) )*(\w+ing\b)")
_RHYTHM = re.compile(
    r"(?:(?:every|each|on \w+days?$|once|twice|most)\b|\w+ times\b|\w+days$)", re.IGNORECASE
)


def read(sentence_: Sentence, setting: Setting) -> Iterator[Found]:
    """All statements of one sentence, in order."""
    previous: Parsed | None = None
    corrects = False
    if setting.rules and (named := introduction(sentence_)):
        yield named
    for piece in clauses(sentence_):
        clause = opened(piece)
        corrects = corrects or clause.corrects or _after_used_to(sentence_, piece)
        text = with_subject(typed_out(clause.text), _spoken_of(previous, piece, setting))
        clause = replace(clause, text=text, corrects=corrects)
        for part in parts_of(text) or [text]:
            told = replace(clause, text=part)
            if previous is not None and gives_it_up(text):
                told = replace(told, text=given_up(text, previous.predicate))
            parsed = _parsed(told, piece, previous, setting)
            taken = _by_rules(told, parsed, piece, previous, setting) if setting.rules else []
            yield from taken or _open(told, parsed, piece, setting)
            previous = parsed or previous
        setting = introduced(piece.text, setting)


def _spoken_of(previous: Parsed | None, piece: Piece, setting: Setting) -> Subject | None:
    """Whom a clause without a subject goes on about: the clause before, else the last sentence."""
    if previous is not None:
        return previous.subject if piece.linked else None
    return setting.last


def _by_rules(
    clause: Opened,
    parsed: Parsed | None,
    piece: Piece,
    previous: Parsed | None,
    setting: Setting,
) -> list[Found]:
    found = list(_roundabout(clause, piece, setting))
    said = {row.content for row in found}
    straight = _straight(clause, parsed, piece, previous, setting)
    found += [row for row in straight if row.content not in said]
    return found or list(_names(clause, piece, setting))


def _open(clause: Opened, parsed: Parsed | None, piece: Piece, setting: Setting) -> Iterator[Found]:
    """The clause only worded, for the classifier to judge."""
    if parsed is None or not 8 <= len(parsed.predicate) < 400 or hangs_on_talk(parsed.predicate):
        return
    if match := OPEN.pattern.match(parsed.predicate):
        worded = finding.found((OPEN, match), clause, parsed, piece, setting)
        yield from (worded,) if worded else ()


def _roundabout(clause: Opened, piece: Piece, setting: Setting) -> Iterator[Found]:
    texts = dict.fromkeys((clause.text, typed_out(piece.text)))
    told_in = (list(readings(text, linked=piece.linked)) for text in texts)
    for text in next(filter(None, told_in), []):
        told = replace(clause, text=text)
        yield from _straight(told, _parsed(told, piece, None, setting), piece, None, setting)


def _straight(
    clause: Opened,
    parsed: Parsed | None,
    piece: Piece,
    previous: Parsed | None,
    setting: Setting,
) -> list[Found]:
    """What the rules see in the clause, or else in what stands before its next "and" or comma."""
    found = _of_clause(clause, piece, setting) or _of_predicate(clause, parsed, piece, setting)
    if found is None and 5 < len(short := shortened(clause.text)) < len(clause.text):
        part = replace(clause, text=short)
        parsed = _parsed(part, piece, previous, setting)
        found = _of_clause(part, piece, setting) or _of_predicate(part, parsed, piece, setting)
    return [found] if found else []


def _names(clause: Opened, piece: Piece, setting: Setting) -> Iterator[Found]:
    for text in named_in_passing(piece.text):
        told = replace(clause, text=text, time="")
        yield from _straight(told, _parsed(told, piece, None, setting), piece, None, setting)


def _after_used_to(sentence_: Sentence, piece: Piece) -> bool:
    """ "I used to live in Rome but now I live in Bari": the second overrules the first."""
    before = sentence_.text[: piece.start - sentence_.start]
    return bool(
        re.search(r"\bused to\b.*\b(?:now|these days)\b", before + piece.text[:12], re.I)
    ) and bool(before)


def _parsed(
    clause: Opened, piece: Piece, previous: Parsed | None, setting: Setting
) -> Parsed | None:
    text = _TAIL.sub("", clause.text)
    parsed = parse_clause(text, known=setting.known, names=setting.names)
    if parsed is None and piece.linked and previous is not None:
        if _GOVERNS.match(previous.predicate) or _is_loose(text, previous.predicate):
            return None
        if previous.predicate.startswith("is ") and _DOING.match(text):
            return replace(previous, predicate="is " + _DOING.sub(r"\1", text, count=1))
        plain_form = not previous.subject.label or previous.subject.plural
        if plain_form and is_third_person(text.partition(" ")[0]):
            return None  # "a guy who lives in Porto and loves jazz": said of somebody else
        return replace(previous, predicate=third_person(clause.text, plain_form=plain_form))
    return parsed


def _is_loose(text: str, before: str) -> bool:
    """A bare verb after an infinitive ("… to raise awareness and teach people") belongs to it."""
    verb = text.partition(" ")[0].lower()
    return (
        " to " in before and verb not in IRREGULAR_PAST and not verb.endswith(("ed", "'m", "'ve"))
    )


def _of_clause(clause: Opened, piece: Piece, setting: Setting) -> Found | None:
    for rules in (en.CLAUSES, en.INSTRUCTIONS):
        for taken in rules.matching(clause.text, who="self"):
            if found := finding.found(taken, clause, Parsed(SELF, clause.text), piece, setting):
                return found
    return None


def _of_predicate(
    clause: Opened, parsed: Parsed | None, piece: Piece, setting: Setting
) -> Found | None:
    if parsed is None or not 4 <= len(parsed.predicate) < 400:
        return None
    who = "other" if parsed.subject.label else "self"
    if _RHYTHM.match(clause.time):
        parsed = replace(
            parsed, predicate=f"{parsed.predicate} {clause.time[0].lower()}{clause.time[1:]}"
        )
        clause = replace(clause, time="")
    for taken in () if parsed.shared else en.NO_LONGER.matching(parsed.predicate, who=who):
        if found := finding.found(taken, clause, parsed, piece, setting):
            return replace(found, corrects=True)
    for taken in _tables(parsed).matching(parsed.predicate, who=who):
        if found := finding.found(taken, clause, parsed, piece, setting):
            return found
    return None


def _tables(parsed: Parsed) -> Table:
    if parsed.subject.person:
        return en.PREDICATES
    return en.OF_FAVOURITES if "favo" in parsed.subject.label else en.OF_THINGS
