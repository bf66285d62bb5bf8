"""English: one clause that says several things of one subject, taken apart.

"I'm Sam, 41, a paramedic from Cork, with two boys" says five things; "my sister Jo, a vet, …" says
what Jo is in passing. Each part is read by the rules as a clause of its own, with its subject.
"""

import re
from collections.abc import Iterator

from memories.extraction.rules.en_grammar import Subject
from memories.extraction.rules.en_words import (
    NATIONALITIES,
    RELATION_MODIFIERS,
    RELATIONS,
    STATES,
    TRAITS,
)

_KIN = rf"(?:{RELATION_MODIFIERS} ){{0,2}}(?:{RELATIONS})"
_NAME = r"(?-i:[A-Z][\w'-]+)"
_HEAD = re.compile(
    rf"(?P<head>(?:I'm|I am|[Hh]e's|[Hh]e is|[Ss]he's|[Ss]he is|[Mm]y (?i:{_KIN})"
    rf"(?: {_NAME})?(?: is|'s))) (?P<rest>.+)$",
    re.DOTALL,
)
_APPOSED = re.compile(
    rf"(?P<who>[Mm]y (?i:{_KIN})(?: {_NAME})?), (?P<rest>(?:an? |aged |who's |\d).+)$", re.DOTALL
)
_ADJECTIVES = rf"(?:{STATES}|{TRAITS}|vegan|vegetarian|diabetic|asthmatic|dyslexic)"
_COUNTED = r"(?:an?|one|two|three|four|five|six|my|no|\d+)"
# What may stand after "is": only such parts are set apart, so that "a nurse and midwife" stays one.
_COMPLEMENT = re.compile(
    r"(?:(?:also|now|currently|still|really|very|severely|mildly|deathly|recently|newly|happily|"
    r"freshly|originally|half) )*"
    rf"(?:(?:allergic|intolerant|sensitive|addicted|afraid|scared|terrified) (?:to|of)\b|"
    rf"{_ADJECTIVES}(?=$|[ .!]))|"
    r"(?:aged |turning |almost |nearly )?\d{1,2}(?: years old| yo)?$|an? (?!bit|lot|little)\w|"
    r"(?:from|based in|born in|raised in|living in|living with|working (?:as|at|in|for)|studying|"
    r"training (?:as|to be)|married (?:to|with)|in (?:year|grade) \d)\b|"
    rf"(?:mother|father|mum|mom|dad|parent) (?:of|to) |with {_COUNTED}\b",
    re.IGNORECASE,
)
# Only in front: "half Irish, half Polish" and "bilingual in Catalan and Spanish" say one thing.
_ORIGIN = re.compile(rf"(?:{NATIONALITIES})$", re.IGNORECASE)
_BARE = re.compile(
    rf"(?:(?:also|now|really|very|severely|mildly|deathly) )*"
    rf"(?:(?:allergic|intolerant|sensitive) to\b|{_ADJECTIVES}(?=$|[ ,.!]))",
    re.IGNORECASE,
)
_PART = re.compile(
    r",\s*(?:and\s+|also\s+)?|\s+and\s+|\s+(?=with (?:an?|one|two|three|four|my|\d))"
)
_FAVOURITES = re.compile(r"^(?:my )?(?P<all>(?:all-time )?favou?rite .+)$", re.IGNORECASE)
_FAVOURITE = re.compile(
    r"(?P<thing>(?:all-time )?favou?rite [a-z'-]+)"
    r"(?: (?:is|are)|'s|:|\s?[-–])? (?P<x>[\w'& -]{2,40})$",
    re.IGNORECASE,
)
_OWN_NAME = re.compile(r"(?-i:[A-Z][a-z]+)(?: (?-i:[A-Z][a-z]+))?$")


def with_subject(clause: str, subject: Subject | None) -> str:
    """ "Allergic to nuts" after "My son is four" is the son's: what has no subject keeps the last.

    The speaker needs none: the rules take a bare "allergic to" as theirs.
    """
    if subject is None or not subject.label or not subject.person or not _BARE.match(clause):
        return clause
    owner = "" if subject.label[:1].isupper() else "my "
    verb = "are" if subject.plural else "is"
    return f"{owner}{subject.label} {verb} {clause[0].lower()}{clause[1:]}"


def parts_of(clause: str) -> list[str]:
    """The statements that stand side by side in a clause; none where it says only one thing."""
    if match := _HEAD.match(clause):
        return list(_complements(match["head"], match["rest"]))
    if match := _APPOSED.match(clause):
        said = match["rest"].removeprefix("who's ").removeprefix("aged ")
        return list(_complements(f"{match['who']} is", said, fewest=1))
    return list(_favourites(clause))


def _complements(head: str, rest: str, *, fewest: int = 2) -> Iterator[str]:
    named = head.startswith("I") and bool(_OWN_NAME.match(_PART.split(rest)[0].strip()))
    parts = _joined(rest)
    if named:
        parts = parts[1:]
    known = [
        part
        for at, part in enumerate(parts)
        if _COMPLEMENT.match(part) or (at == 0 and _ORIGIN.match(part))
    ]
    if len(known) < (1 if named else fewest) or (known != parts[: len(known)]):
        return
    for part in known:
        yield _said(head, part)


def _joined(rest: str) -> list[str]:
    """The parts, where what is no complement stays with the part before it."""
    parts: list[str] = []
    end = 0
    marks = [*_PART.finditer(rest)]
    for mark, begin in zip([None, *marks], [0, *(one.end() for one in marks)], strict=True):
        stop = next((one.start() for one in marks if one.start() >= begin), len(rest))
        text = rest[begin:stop].strip()
        if parts and mark is not None and not _COMPLEMENT.match(text):
            parts[-1] = rest[end:stop].strip()
            continue
        parts.append(text)
        end = begin
    return parts


def _said(head: str, part: str) -> str:
    if not part.lower().startswith("with "):
        return f"{head} {part}"
    subject = re.sub(r"(?:'m| am|'s| is)$", "", head)
    return f"{subject} {'have' if subject == 'I' else 'has'} {part[5:]}"


def _favourites(clause: str) -> Iterator[str]:
    """ "Favourite food ramen, favourite colour teal" needs no verbs."""
    match = _FAVOURITES.match(clause)
    if match is None or len(re.findall(r"favou?rite", clause, re.IGNORECASE)) < 2:
        return
    for part in re.split(r",\s*(?:and\s+)?|\s+and\s+", match["all"]):
        if one := _FAVOURITE.match(part.strip()):
            yield f"my {one['thing'].lower()} is {one['x']}"
