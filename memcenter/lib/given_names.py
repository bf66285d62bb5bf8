"""Given names that are also stop words: "Where does Will work?", "An lives in Ghent"."""

import re

_NAMES = ("Will", "An", "Can", "Don", "Do", "So", "My")
_NAME = re.compile(rf"(?:{'|'.join(_NAMES)})(?:['’]s)?\b(?!['’])")
# It counts as a name when it's written as one where no capital is due …
_GOES_BEFORE = re.compile(r"[\w,;:] ")
# … or, at the beginning, when what follows tells: "Will you" asks, "An apple" counts.
_ASKED = (
    "i|you|he|she|it|we|they|there|this|that|these|those|the|a|an|my|your|his|her|its|our|their"
    "|anyone|anybody|someone|somebody|everyone|everybody|any|some|all|no"
)
_WILL = re.compile(rf"(?:^|[.!?\n]\s{0, 3})Will(?:['’]s\b|\s++(?!(?:{_ASKED})\b)[a-z])")
_AN = re.compile(r"(?:^|[.!?\n]\s{0,3})An(?:['’]s\b|\s++(?!ho|he)[b-df-hj-np-tv-z])")
_CAPITALS = re.compile(r"\b[A-Z]")
_WORDS = re.compile(r"\b[A-Za-z]")


def that_are_stop_words(text: str) -> frozenset[str]:
    """Those that stand in the text as names, in small letters. Titles And Headlines have none."""
    if not any(name in text for name in _NAMES):
        return frozenset()
    found = {
        match.group().lower().removesuffix("'s").removesuffix("’s")
        for match in _NAME.finditer(text)
        if _GOES_BEFORE.match(text, max(0, match.start() - 2))
    }
    found |= {"will"} if _WILL.search(text) else set()
    found |= {"an"} if _AN.search(text) else set()
    if found and 2 * len(_CAPITALS.findall(text)) > len(_WORDS.findall(text)) > 3:
        return frozenset()
    return frozenset(found)
