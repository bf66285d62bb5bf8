"""English: "I used to smoke but quit in 2019" says what was quit only in its first half."""

import re

_BARE = re.compile(
    r"(?:i )?(?:have |'ve )?(?:then |finally |since )?"
    r"(?:quit|stopped|gave (?:it|that) up|kicked it)"
    r"(?P<when>(?:,? (?:in|on|last|about|around|over|almost|when|a|\d+|two|three|four|five|six|"
    r"seven|eight|nine|ten) ?.*)?)$",
    re.IGNORECASE,
)
_USED_TO = re.compile(
    r"used to (?:\w+ly )?(?:(?P<drink>drink)(?=$|,| (?:heavily|a lot|too much|every))"
    r"|(?P<verb>smok|vap|gambl)e?\b)",
    re.IGNORECASE,
)


def gives_it_up(clause: str) -> bool:
    """Whether the clause tells of quitting without saying what."""
    return _BARE.match(clause) is not None


def given_up(clause: str, before: str) -> str:
    """The clause with what the predicate before it was about; empty where nobody can tell."""
    bare, used = _BARE.match(clause), _USED_TO.search(before)
    if bare is None or "used to" not in before:
        return clause
    if used is None:
        return ""
    return f"I quit {'drink' if used['drink'] else used['verb']}ing{bare['when']}"
