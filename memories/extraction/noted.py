"""What a note says of the person, as the person would say it. Pure.

Agents write notes about somebody ("User prefers tea", 「用户住在上海」); the rules of extraction
read what people say of themselves. Only the subject and its verb are changed, sentence by
sentence; one about anybody else stays, and nothing of it is learned.
"""

from __future__ import annotations

import re

_SENTENCE = r"(?:(?<=^)|(?<=[.!?;]\s)|(?<=\n))(?:[-*•][ \t]+)?"
_VERBS = r"[\w’']+s|\w+ed|\w+n['’]t|can|cannot|will|must|would|went|got|bought|met|made|said"
_ABOUT_EN = re.compile(
    rf"{_SENTENCE}(?:the |this |our )?(?:user|customer|client)"
    rf"(?:['’]s[ ]+(?P<own>\w+)|[ ]+(?P<verb>{_VERBS})\b(?! (?:are|were)\b))",
    re.IGNORECASE,
)
_BARE_VERBS = (
    "avoids dislikes doesn't drinks eats enjoys hates has is likes lives loves needs owns plays"
    " prefers speaks studies uses wants wears works"
)
_BARE = re.compile(rf"{_SENTENCE}(?P<verb>{_BARE_VERBS.replace(' ', '|')})\b", re.IGNORECASE)
_BARE_ALLERGY = re.compile(rf"{_SENTENCE}allergic to\b", re.IGNORECASE)
_ABOUT_ZH = re.compile(
    r"(?:(?<=^)|(?<=[\n。！？；，、]))(?:[-*•][ \t]*)?(?:该|此|这位|本)?用户"
    r"(?!名|体验|界面|数|群|端|量|反馈|中心|组|们|故事|需求|增长|画像|手册|协议)"
)
_IRREGULAR = {
    "is": "am", "has": "have", "does": "do", "goes": "go", "isn't": "am not", "hasn't": "haven't",
    "doesn't": "don't", "isn’t": "am not", "hasn’t": "haven’t", "doesn’t": "don’t", "was": "was",
}  # fmt: skip


def as_said(text: str) -> str:
    """The note in the first person, where it is about the person."""
    said = _ABOUT_ZH.sub("我", text)
    said = _ABOUT_EN.sub(_in_english, said)
    said = _BARE_ALLERGY.sub("I am allergic to", said)
    return _BARE.sub(lambda found: f"I {_first_person(found['verb'])}", said)


def _in_english(found: re.Match[str]) -> str:
    if found["own"]:
        return f"My {found['own']}"
    return f"I {_first_person(found['verb'])}"


def _first_person(verb: str) -> str:
    """`likes` -> `like`; a word that is no third person stays: `moved`, `can`."""
    lower = verb.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if lower.endswith("ies"):
        return f"{lower[:-3]}y"
    if lower.endswith(("sses", "shes", "ches", "xes")):
        return lower[:-2]
    return lower[:-1] if lower.endswith("s") and not lower.endswith("ss") else lower
