"""Rewrite an agent's note about the person in the first person.

Agents write notes about somebody ("User prefers tea", 「用户住在上海」); extraction expects
statements of people about themselves. Only the subject and its verb change, sentence by sentence.
Sentences about other people stay unchanged, and nothing is learned from them.
"""

from __future__ import annotations

import re

from memories.extraction.word_tables import compiled, table

_IRREGULAR: dict[str, str] = table("agent_notes")["irregular"]
_P = compiled("agent_notes")


def as_said(text: str) -> str:
    """Return the note with its statements about the person rewritten in the first person."""
    said = _P["about_zh"].sub("我", text)
    said = _P["about_en"].sub(_in_english, said)
    said = _P["bare_allergy"].sub("I am allergic to", said)
    return _P["bare"].sub(lambda found: f"I {_first_person(found['verb'])}", said)


def _in_english(found: re.Match[str]) -> str:
    if found["own"]:
        return f"My {found['own']}"
    return f"I {_first_person(found['verb'])}"


def _first_person(verb: str) -> str:
    """Return the verb for "I": `likes` becomes `like`; forms such as `moved` are unchanged."""
    lower = verb.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if lower.endswith("ies"):
        return f"{lower[:-3]}y"
    if lower.endswith(("sses", "shes", "ches", "xes")):
        return lower[:-2]
    return lower[:-1] if lower.endswith("s") and not lower.endswith("ss") else lower
