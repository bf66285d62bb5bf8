"""Determine whether two statements are about the same person.

A statement is about the person that it mentions first: "my husband works nights" is about the
husband, "my birthday is in May" about the speaker. Only the wording is compared, so the result may
be `UNSURE`.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from foundation.text import segment
from memories.extraction.masking import ADDED
from memories.extraction.wording.languages import language_of
from memories.extraction.wording.people import (
    PATTERNS,
    Person,
    end_of,
    names_in,
    people_in,
    plain_names,
    start_of,
)

_SELF = re.compile(r"(?i)\b(?:i|im|ive|i['’](?:m|ve|d|ll)|my|mine|me|we|our|us)\b|我|咱|俺")
_LATIN_NAME = re.compile(r"阿?[A-Za-z]{2,12}")  # a name in a Chinese text: 我男朋友阿Ken
_BEGINNING = re.compile(r"^(?:\S{0,3}|\S+\s+|\[)$")  # text that may precede the owner
# In 带爸去医院 ("take Dad to hospital"), the person after the verb isn't the one who does it.
_OBJECT_OF = re.compile(r"[带给帮送接陪找替教请约]我?$")
_OWNED = re.compile(r"(?P<who>[^\W\d_]{2,20}['’]?s) (?P<thing>[^\W\d_]{1,30})")
# Two people who do something together: jake and mia, 我和老公, 豆豆跟朵朵.
_TOGETHER = re.compile(
    r"(?:both )?(?P<one>(?:my |our )?[a-z]{1,20}) (?:and|&) (?P<other>(?:my |our )?[a-z]{1,20})\b"
    r"|(?P<zh_one>[\u4e00-\u9fff]{1,4}?)[和跟与](?P<zh_other>[\u4e00-\u9fff]{1,4}?)(?=都|一起|两|每|在)"
)
_SEXES = ("f", "m")
_WITH_SELF = re.compile(r"(?i)\b(?:and|&) (?:i|me)\b|\b(?:i|me) and\b|我们|我們|咱们")


class Ownership(Enum):
    """Whether two statements are about the same person."""

    SAME = "same"
    UNSURE = "unsure"
    OTHER = "other"


class Owner(NamedTuple):
    """The person whom a text is about.

    `is_self` and `is_other` are both True if the text is about the speaker together with somebody
    else. `names` holds the words that name a person other than the speaker. `names` is empty for
    the speaker, and for a pronoun that isn't followed by a name in brackets. `relation` is the
    relation that the text names ("sister"), and `gender` is the person's gender, if known.
    `mentions` is True if the text mentions anybody other than the speaker.
    """

    is_self: bool = False
    is_other: bool = False
    names: frozenset[str] = frozenset()
    relation: str = ""
    gender: str = ""
    mentions: bool = False


def ownership(first: str, second: str) -> Ownership:
    """Return whether two statements are about the same person.

    The result is `UNSURE` if the wording doesn't show it, or if one statement is about a person and
    the other about two people including this person.
    """
    texts = first, second
    one, other = (_owner(text, texts) for text in texts)
    if _is_of_group(first, second) or _is_of_group(second, first):
        return Ownership.UNSURE
    if (one.is_self and one.is_other) or (other.is_self and other.is_other):
        return Ownership.SAME
    if one.names & _terms(second) or other.names & _terms(first):
        return Ownership.SAME
    if not one.is_other and not other.is_other:
        return Ownership.SAME
    if one.is_other and other.is_other:
        return _of_two_others(one, other)
    own = other if one.is_other else one
    return Ownership.OTHER if own.is_self and not own.mentions else Ownership.UNSURE


def _is_of_group(text: str, group: str) -> bool:
    """Return whether `group` is about two people together, and `text` about one of them.

    An example is "Jake is 4" with the group "Jake and Mia go swimming". Return False if the text is
    about the speaker.
    """
    plain = [
        one.strip().lower().removeprefix("[我]").replace("[", "").replace("]", "")
        for one in (text, group)
    ]
    found = _TOGETHER.match(plain[1])
    if found is None or _TOGETHER.match(plain[0]):
        return False
    parts = {found[name] for name in ("one", "other", "zh_one", "zh_other") if found[name]}
    parts -= {"i", "me", "我"}  # a statement about the speaker may change the speaker's memories
    return sum(_begins_with(one, plain[0]) for one in parts) == 1


def _begins_with(words: str, text: str) -> bool:
    after = text[len(words) :][:1]
    return text.startswith(words) and not (after.isascii() and after.isalpha())


def owner_names(first: str, second: str) -> frozenset[str]:
    """Return the words that name the people of two statements, such as "theo" or "sister".

    If both statements begin with the same word ending in "s", followed by a noun, this word also
    counts as a name ("theos school", "theos test").
    """
    texts = first, second
    begin = [_OWNED.match(text) for text in texts]
    stop = segment.ENGLISH_STOP_WORDS
    owned = {one["who"].lower() for one in begin if one and one["thing"].lower() not in stop}
    both = owned if all(begin) and len(owned) == 1 else set()
    return frozenset().union(*(_owner(text, texts).names for text in texts), *map(_terms, both))


def _of_two_others(one: Owner, other: Owner) -> Ownership:
    """Compare two owners whose names share no word; "mum" and "mother" may be the same person."""
    if one.relation and other.relation:
        are_alike = one.relation == other.relation
        differ = one.gender in _SEXES and other.gender in _SEXES and one.gender != other.gender
        return Ownership.SAME if are_alike else Ownership.OTHER if differ else Ownership.UNSURE
    if one.names and other.names and not one.relation and not other.relation:
        return Ownership.OTHER
    return Ownership.UNSURE if one.names or other.names else Ownership.SAME


def _owner(text: str, texts: tuple[str, str]) -> Owner:
    language = language_of(text)
    if language not in ("en", "zh"):
        return Owner()
    text = text.replace("[我]", "我")  # [我]老汉儿 is "my father"
    people = [person for person in people_in(text, language) if person.gender != "p"]
    if language == "en":
        people += [person for person in plain_names(text, texts) if person.name.lower() != "user"]
    pronoun = PATTERNS[f"pronoun_{language}"].search(text)
    if pronoun and not any(pronoun.groupdict().get(gender) for gender in ("f", "m")):
        pronoun = None
    mentions = bool(people or pronoun or any(True for _ in names_in(text)))
    first = (
        person
        for person in people
        if _BEGINNING.search(text[: person.start]) and not _OBJECT_OF.search(text[: person.start])
    )
    who = min(first, default=None)
    own = _SELF.search(text)
    person_at = who.start if who else len(text)
    pronoun_at = start_of(pronoun, "all") if pronoun else len(text)
    self_at = own.start() if own else len(text)
    if pronoun and pronoun_at < min(person_at, self_at):
        added = ADDED.match(text[end_of(pronoun, "all") :].lstrip())
        meant = added[0] if added else ""
        named = next(iter(people_in(meant, language)), Person(0, ""))
        return Owner(False, True, _terms(meant), named.relation, named.gender, mentions=True)
    if who and person_at <= self_at:
        after = text[who.start + len(who.words) :]
        called = _LATIN_NAME.match(after) if language == "zh" else None
        names = _terms(f"{who.name or (called[0] if called else '')} {who.relation}")
        is_self = _WITH_SELF.search(text) is not None
        return Owner(is_self, True, names, who.relation, who.gender, mentions)
    return Owner(is_self=own is not None, mentions=mentions)


def _terms(text: str) -> frozenset[str]:
    return frozenset(segment.terms(text)) - segment.ENGLISH_STOP_WORDS
