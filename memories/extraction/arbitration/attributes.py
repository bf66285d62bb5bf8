"""Recognise statements that give different attributes of one thing, such as name and industry.

The reader model wrongly finds contradictions between statements like "my dog is called Rex" and "my
dog is a beagle", because it was trained on few pairs with the same beginning. The wording of most
statements shows which attribute they give. Statements that give different attributes don't
contradict each other.
"""

from __future__ import annotations

import re
from itertools import takewhile

import rjieba

from foundation.text import segment
from memories.extraction.arbitration import pairs
from memories.extraction.masking import ADDED_DATE
from memories.extraction.pattern_tables import compiled, table

_PATTERNS = compiled("attributes")
_OWNER, _VERB, _NOUN, _PROPER = (_PATTERNS[name] for name in ("owner", "verb", "noun", "proper"))
_ATTRIBUTES = (
    "name",
    "place",
    "origin",
    "age",
    "year",
    "colour",
    "industry",
    "products",
    "zodiac",
    "count",
    "price",
    "amount",
)
_NAME_TAGS = ("nr", "eng")  # a Chinese text may also give a name with only 是 ("is")
_NOUNS = {
    noun: re.compile(f"(?i)(?:{words})") for noun, words in table("attributes")["nouns"].items()
}
_CLAUSE = re.compile(r"[,，;；、。.!！]\s*|\s(?:and|but)\s")
_POSSESSIVE = re.compile(r"['’]s?$")
# Text that may follow the shared subject before the verb: nothing, or an attribute, as in "my dog's
# breed" or 公司规模 ("company size").
_ONLY_NOUN = re.compile(r"(?:['’]s? (?:[a-z]+ )?[a-z]+|的?[\u4e00-\u7683\u7685-\u9fff]{2,3}|) *")
_EDGE = " \t.。!！"


def give_different_attributes(first: str, second: str, *, first_clause: bool = False) -> bool:
    """Return whether two statements clearly give different attributes of one thing.

    Both must begin with the same subject ("my company"), and neither may contain a negation. Either
    all their attributes must be recognised and different, or one statement must give only the name
    ("is called Ana", 叫小闵) while the other can't give a name. With `first_clause`, only the first
    clause of each statement is compared.
    """
    texts = [_OWNER.sub("", ADDED_DATE.sub("", text).strip(_EDGE)) for text in (first, second)]
    rests = _rests(*texts)
    if not rests or any(map(pairs.denies, rests)):
        return False
    if first_clause:
        rests = [_CLAUSE.split(rest, maxsplit=1)[0] for rest in rests]
    attributes = [_attributes(rest) for rest in rests]
    if not all(attributes):
        other = next((rest for rest, found in zip(rests, attributes, strict=True) if not found), "")
        return {"name"} in attributes and not _PATTERNS["may_name"].search(other)
    return attributes[0].isdisjoint(attributes[1])


def _rests(first: str, second: str) -> list[str]:
    """Return both texts without their common subject, or an empty list if they have none."""
    texts = first, second
    heads = [text[: found.start()].lower() for text in texts if (found := _VERB.search(text))]
    if len(heads) < 2:
        return []
    shared = takewhile(lambda letters: letters[0] == letters[1], zip(*heads, strict=False))
    subject = _POSSESSIVE.sub("", "".join(letter for letter, _ in shared).rstrip())
    is_shared = all(_ONLY_NOUN.fullmatch(head[len(subject) :]) for head in heads)
    if not is_shared or not _is_noun(subject):
        return []
    return [text[len(subject) :].strip() for text in texts]


def _is_noun(subject: str) -> bool:
    return bool(segment.content_terms(subject)) and len(subject.split()) <= 3


def _attributes(rest: str) -> set[str]:
    """Return the attributes that a text gives, or an empty set if one of its clauses is unclear.

    `rest` is the text after the subject.
    """
    found: set[str] = set()
    for clause in filter(None, _CLAUSE.split(rest)):
        attributes = _of_clause(clause.strip())
        if not attributes:
            return set()
        found |= attributes
    return found


def _of_clause(clause: str) -> set[str]:
    """Return the attributes that a clause may give: several if the wording is ambiguous."""
    found = {name for name in _ATTRIBUTES if _PATTERNS[name].search(clause)}
    if named := _NOUN.search(clause):
        noun = named["en"] or named["zh"]
        found |= {kind for kind, words in _NOUNS.items() if words.fullmatch(noun)} or {noun}
    elif _is_at_place(clause):
        found.add("place")
    elif not found and _PATTERNS["kind"].search(clause):
        found.add("kind")
        if clause[0] == "是" and any(tag in _NAME_TAGS for _, tag in rjieba.tag(clause)):
            found.add("name")
    elif not found and _PROPER.search(clause):
        found |= {"kind", "name"}
    elif not found and _PATTERNS["quality"].search(clause):
        found |= {"kind", "quality"}
    return found


def _is_at_place(clause: str) -> bool:
    """Return whether a Chinese clause only gives a place.

    在市中心 ("in the city centre") is a place, but 在招人 ("is hiring") isn't.
    """
    if not clause.startswith("在"):
        return False
    tags = [tag for _, tag in rjieba.tag(clause[1:16])]
    return bool(tags) and all(tag.startswith(("n", "s", "f", "r", "j")) for tag in tags)
