"""Reads English: clauses in, statements that the rules took out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from memories.extraction.rules import en, en_dates
from memories.extraction.rules.en_clauses import Piece, Sentence, clauses
from memories.extraction.rules.en_complete import is_complete
from memories.extraction.rules.en_grammar import (
    SELF,
    Parsed,
    Subject,
    parse_clause,
)
from memories.extraction.rules.en_home import is_news_of_home
from memories.extraction.rules.en_openers import ACTUALLY, Opened, opened
from memories.extraction.rules.en_readings import (
    named_in_passing,
    readings,
    shortened,
    typed_out,
)
from memories.extraction.rules.en_verbs import third_person
from memories.extraction.rules.en_wording import ours, sentence, trimmed
from memories.extraction.rules.en_words import (
    IRREGULAR_PAST,
    LANGUAGES,
    NATIONALITIES,
    RELATIONS,
    STATES,
    TRAITS,
)
from memories.extraction.rules.passing import is_passing
from memories.extraction.rules.rule import Found, Rule, Table
from memories.extraction.rules.vague import tells_nothing

_INTRODUCES = re.compile(
    rf"\b(?:[Mm]y|[Aa]n?|[Oo]ur|one|two) (?:[\w-]+ ){{0,3}}?(?P<relation>{RELATIONS})"
    r"\b(?:,? (?:(?:called|named) )?(?P<name>[A-Z][\w-]+))?"
)
_IM_NAME = re.compile(
    r"(?:hi|hello|hey|nice to meet you|good (?:morning|evening|"
    r"afternoon))\b.{0,30}?\b(?:i'm|i am|this is) "
    r"(?P<x>(?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+){0,2})(?=$|,| and (?:i|i'm|my)\b)",
    re.IGNORECASE,
)
_IM_NAME_COMMA = re.compile(
    rf"(?:I'm|I am|i'm|im) (?!(?i:{NATIONALITIES}|{STATES}|{LANGUAGES}|{TRAITS})\b)"
    r"(?P<x>[A-Z][a-z]+)(?=, (?:I|i|an?|\d\d)\b| and I (?:am|work|live|run|teach)\b)"
)
_NOT_NAMES = re.compile(
    r"(?i:sorry|just|not|so|very|from|back|here|good|fine|great|happy|the|an?|new|"
    r"in|on|at)\b|.*(?:ing|ed)$"
)
# "I'll rest and study well": what follows "and" still hangs on "will".
_GOVERNS = re.compile(
    r"(?:will|would|can|could|should|might|must|may|(?:wants|has|needs|hopes|plans|"
    r"tries|likes|loves|intends|"
    r"is (?:going|trying|planning|hoping|ready|able|excited)|would (?:like|love)|"
    r"decided|has decided|promised?) to)\b",
    re.IGNORECASE,
)
_NOTABLE = re.compile(
    r"\b(?:interview|exams?|surgery|operation|wedding|married|engaged|birthday|"
    r"graduat\w+|born|died|passed|"
    r"promoted|fired|quit|hired|accepted|job|concert|conference|marathon|race|moved|"
    r"moving|bought|adopted|"
    r"diagnosed|pregnant|visa|flight|degree|offer|won|licen[sc]e|group|funeral|"
    r"retire\w*|deadline|due|"
    r"appointment|launch|release|started|signed up|joined|broke|anniversary|"
    r"presentation|defen[cs]e|"
    r"parade|workshop|festival|retreat|museum|published|turned)\b",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[ ,]+(?:now|too|lately|recently|these days|nowadays|at the moment|right "
    r"now|currently|as well|though|haha|lol|actually|by the way|btw))+$",
    re.IGNORECASE,
)
_DOING = re.compile(r"(?:(?:currently|now|also|still|just) )*(\w+ing\b)")
_RHYTHM = re.compile(r"(?:(?:every|each|on \w+days?$)\b|\w+days$)", re.IGNORECASE)
_CHANGEABLE = ("fact", "event", "constraint", "task")
_EVERY_YEAR = ("birthday", "anniversary", "date of birth", "birthdate")


@dataclass(frozen=True)
class Setting:
    """What the reader knows beside the words: the day, and whom it may already know."""

    today: date
    speaker: str = ""
    known: Subject | None = None
    names: frozenset[str] = frozenset()


def read(sentence_: Sentence, setting: Setting) -> Iterator[Found]:
    """All statements of one sentence, in order."""
    previous: Parsed | None = None
    corrects = False
    if named := _introduction(sentence_):
        yield named
    for piece in clauses(sentence_):
        clause = opened(piece)
        corrects = corrects or clause.corrects or _after_used_to(sentence_, piece)
        clause = replace(clause, text=typed_out(clause.text), corrects=corrects)
        parsed = _parsed(clause, piece, previous, setting)
        found = list(_roundabout(clause, piece, setting))
        said = {row.content for row in found}
        straight = _straight(clause, parsed, piece, previous, setting)
        found += [row for row in straight if row.content not in said]
        yield from found or _names(clause, piece, setting)
        previous = parsed or previous
        setting = introduced(piece.text, setting)


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


def introduced(text: str, setting: Setting) -> Setting:
    """`setting` knowing the one person or animal that `text` spoke of last, and all names."""
    last, names = setting.known, set(setting.names)
    for match in _INTRODUCES.finditer(text):
        name = match["name"] or ""
        plural = match["relation"].lower().endswith("s")
        last = Subject(f"{match['relation'].lower()} {name}".strip(), plural)
        if name:
            names.add(name)
    return replace(setting, known=last, names=frozenset(names))


def _introduction(sentence_: Sentence) -> Found | None:
    match = _IM_NAME.match(sentence_.text) or _IM_NAME_COMMA.match(sentence_.text)
    if match is None or _NOT_NAMES.match(match["x"]):
        return None
    row = en.INTRODUCTION
    start = sentence_.start + match.start("x")
    return Found(row, f"Name is {match['x']}", start, start + len(match["x"]), "en")


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
            if found := _found(taken, clause, Parsed(SELF, clause.text), piece, setting):
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
        if found := _found(taken, clause, parsed, piece, setting):
            return replace(found, corrects=True)
    for taken in _tables(parsed).matching(parsed.predicate, who=who):
        if found := _found(taken, clause, parsed, piece, setting):
            return found
    return None


def _tables(parsed: Parsed) -> Table:
    if parsed.subject.person:
        return en.PREDICATES
    return en.OF_FAVOURITES if "favo" in parsed.subject.label else en.OF_THINGS


def _found(
    taken: tuple[Rule, re.Match[str]],
    clause: Opened,
    parsed: Parsed,
    piece: Piece,
    setting: Setting,
) -> Found | None:
    rule, match = taken
    predicate = _worded(rule, match)
    timeless = rule.timeless or parsed.subject.label.endswith(_EVERY_YEAR)
    if clause.time and not timeless:
        predicate = f"{predicate} {clause.time[:1].lower()}{clause.time[1:]}"
    predicate, when = (
        (predicate, None) if timeless else _dated(predicate, rule, parsed, setting.today)
    )
    if not is_complete(predicate, parsed.subject) or (rule.dated and when is None):
        return None
    if tells_nothing(rule.kind, predicate, language="en", named=bool(parsed.subject.label)):
        return None
    if is_passing(rule.kind, predicate, when=when, today=setting.today, notable=_NOTABLE):
        return None
    content = sentence(ours(predicate), subject=parsed.subject, speaker=setting.speaker)
    return Found(
        rule,
        content,
        clause.start,
        piece.end,
        "en",
        when=when,
        hedged=clause.hedged,
        corrects=clause.corrects
        or is_news_of_home(content, clause.text, when, setting.today)
        or (rule.kind in _CHANGEABLE and bool(ACTUALLY.search(piece.text))),
    )


def _worded(rule: Rule, match: re.Match[str]) -> str:
    if not rule.say:
        return trimmed(match[0])
    groups = {name: value or "" for name, value in match.groupdict().items()}
    if (
        rule.data.get("shape") == "best"
        and groups["x"][1:].islower()
        and not groups["x"].startswith("I")
    ):
        groups["x"] = groups["x"][0].lower() + groups["x"][1:]
    if not groups.get("y"):
        groups["x"] = trimmed(groups.get("x", ""))
    return trimmed(rule.say.format(**groups))


def _dated(predicate: str, rule: Rule, parsed: Parsed, today: date) -> tuple[str, date | None]:
    verb = predicate.partition(" ")[0]
    present = verb.endswith("s") and verb not in ("was", "has", "is")
    told = verb in IRREGULAR_PAST or verb.endswith("ed")
    past = (told and rule.code != "en.promised") or (rule.kind == "event" and not present)
    if re.match(r"(?:will|is \w+ing|was moved|has been moved|is getting)\b", predicate):
        past = False
    text, when = en_dates.resolve(predicate, today=today, past=past)
    if rule.data.get("shape") == "age":
        text = f"{text} (as of {today:%Y-%m})" if when is None else text
    return text, when
