"""The labels of the model's heads, in the order of the model's outputs."""

TAGS = ("outside", "begin", "inside")
# Every statement gets one label of each head.
SPAN_HEADS: dict[str, tuple[str, ...]] = {
    "keep": ("no", "unsure", "yes"),
    "kind": ("fact", "preference", "constraint", "task", "pattern", "skill", "event"),
    "topic": (
        *("family", "people", "pets", "health", "food", "work", "study"),
        *("home", "money", "travel", "hobbies", "things", "answers", "self"),
    ),
    "whose": ("self", "related", "others"),
    "holds": ("lasting", "habit", "planned", "past", "passing"),
    "said": ("asserted", "hedged", "asked", "supposed", "joked", "quoted", "role", "transform"),
    "change": ("none", "corrects", "ends"),
}
# Flags of the whole message; several may hold.
FLAGS = (
    *("remember", "dont_keep_this", "dont_keep_before", "dont_keep_topic", "forget"),
    *("role_begins", "role_ends", "role", "pasted", "transform"),
)
# Relations of a new text to a known one.
PAIRS = ("same", "newer", "contradicts", "refines", "ended", "unrelated")

SECRET = len(TAGS)  # the token output that says "part of a secret"
TOKEN_OUTPUTS = len(TAGS) + 1 + sum(len(answers) for answers in SPAN_HEADS.values())
TEXT_OUTPUTS = len(FLAGS) + len(PAIRS) + 1  # the last: "this memory is meant by this request"


def head_slices() -> dict[str, slice]:
    """Return the slice of each span head in the token outputs."""
    found, at = {}, len(TAGS) + 1
    for name, answers in SPAN_HEADS.items():
        found[name] = slice(at, at + len(answers))
        at += len(answers)
    return found
