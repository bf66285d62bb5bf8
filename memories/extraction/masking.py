"""What of a message is no statement of anybody's: code, quoted lines, addresses. It is covered.

Covering keeps every offset, so that what is found stands at the same place in the message. Whether
a text is pasted, played or to be translated is for the reader to tell.
"""

import re
from functools import lru_cache
from typing import Protocol, cast

SECRET = "\ue000"  # a private-use sign nobody types: a secret stood here
COVER = "\ue001"  # code, a quoted line, an address: not the person's own statement

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]{41,}`")
_QUOTED_LINE = re.compile(r"(?m)^[ \t]{0,4}(?:>|\|).*$")
_URL = re.compile(r"\b(?:https?://|www\.)[^\s<>，。；、）]+")
_TAGS = re.compile(r"<[a-zA-Z/!][^<>\n]{0,200}>")

# One sign for one sign: full-width forms and typographic quotes as their plain cousins.
_PLAIN = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF10, 0xFF5B) if chr(code).isalnum()}
    | {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'", "\u00a0": " ", "\u3000": " "}
)


class _Converter(Protocol):
    def convert(self, text: str) -> str: ...


@lru_cache(maxsize=1)
def _simplified_signs() -> dict[int, str]:
    import opencc  # 20 ms, and only a process that reads Chinese pays it

    converter = cast(_Converter, opencc.OpenCC("t2s"))
    signs = [chr(code) for code in range(0x4E00, 0xA000)]
    plain = converter.convert("\n".join(signs)).split("\n")
    return {ord(a): b for a, b in zip(signs, plain, strict=True) if a != b and len(b) == 1}


def simplified(text: str) -> str:
    """Traditional characters as simplified ones, sign for sign: offsets stay true."""
    return text.translate(_simplified_signs()).replace("妳", "你").replace("牠", "它")


def plain(text: str) -> str:
    """Full-width digits and letters, and curly apostrophes, as plain ones; the same length."""
    return text.translate(_PLAIN)


def covered(text: str) -> str:
    """The message with code, quoted lines and addresses covered; the same length."""
    for pattern in (_FENCE, _INLINE, _QUOTED_LINE, _URL, _TAGS):
        text = pattern.sub(lambda match: COVER * len(match[0]), text)
    return text
