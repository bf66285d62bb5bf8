"""Whether an English predicate is a whole statement that stands alone."""

import re

from memories.extraction.rules import en_dates
from memories.extraction.rules.en_grammar import Subject
from memories.extraction.rules.en_wording import stands_alone

_UNFINISHED = frozenset(
    [
        "few",
        "lot",
        "bit",
        "own",
        "other",
        "more",
        "many",
        "several",
        "any",
        "all",
        "every",
        "another",
        "least",
        "very",
        "so",
        "too",
        "is",
        "was",
        "are",
        "be",
        "has",
        "had",
        "been",
        "not",
        "both",
        "such",
        "different",
        "similar",
        "it",
    ]
)
# "Actually, …" corrects a fact; before a wish or a habit it is only a way to begin.
_ACTOR = frozenset(
    ["wants", "plans", "hopes", "is", "has", "decided", "intends", "aims", "needs", "must", "will"]
)


# Of what no rule knows more is asked: nothing that points at what was spoken of ("that sunrise",
# "for the cause"), nothing that was only going on, no mood, and no turn of phrase about one.
_SPOKEN_OF = (
    r"(?:event|cause|project|place|thing|day|one|group|team|class|book|movie|film|show|painting|"
    r"picture|photo|game|idea|plan|guy|lady|man|woman|people|story|party|trip|meeting|workshop|"
    r"course|company|store|shop|whole|rest|other|result|process|experience|moment|recipe|file|"
    r"code|error|function|problem|question|answer)s?"
)
_MOODS = (
    r"(?:excited|scared|happy|sad|proud|glad|nervous|thrilled|worried|grateful|thankful|lucky|sure|"
    r"sorry|tired|upset|shocked|surprised|afraid (?:their|my|that|it))"
)
_HANGS = re.compile(
    r"^(?:their|my|our|his|her|the|an?|to|in|on|at|for|with|of|and|or|but|not) |"
    rf"\. |\b(?:that|this|those|these|all the) [a-z]+|\bthe {_SPOKEN_OF}\b"
    r"(?! (?:of|in|at|on|for|to|called|named|where|with)\b)|"
    r"\b(?:everything|anything|nothing|each other|remembers?|never forget|can't wait|blast|"
    r"looking forward|(?:good|great) time|keeps? (?:saying|telling|asking|thinking))\b|"
    rf"^(?:is|are|was|were) (?:(?:so|really|also|just|very) )*{_MOODS}\b|"
    r"^(?:was|were) \w+ing\b|^(?:(?:often|always|sometimes|just|vaguely) )?(?:feels?|thought|"
    r"said|told|asked|wondered|noticed|reali[sz]ed|guessed|hopes|wishes|thinks|knows|means|sees|says)\b|"
    r"^can (?:talk|see|feel|hear|imagine|tell)\b|"
    r"^(?:doesn't |usually |always )?(?:go(?:es)?|plays?|do(?:es)?|comes?|meets?|gets?|takes?|"
    r"makes?) (?:often|every|each|sometimes|usually)\b",
    re.IGNORECASE,
)


def hangs_on_talk(predicate: str) -> bool:
    """Whether only those who heard the whole conversation would understand `predicate`."""
    return bool(_HANGS.search(predicate))


def _without_asker(predicate: str) -> str:
    """In what is asked of the assistant, "me" is plain enough."""
    return (
        re.sub(r"\b(?:me|things)\b", "", predicate) if "the assistant" in predicate else predicate
    )


def is_complete(predicate: str, subject: Subject) -> bool:
    if not 3 < len(predicate) <= 220 or en_dates.LEFT_OVER.search(predicate):
        return False
    words = predicate.split()
    if len(words) < 2 and not subject.label:
        return words[0] in ("retired", "vegan")
    if words[-1].lower() in _UNFINISHED:
        return False
    return stands_alone(_without_asker(predicate)) and words[-1].lower() not in _ACTOR
