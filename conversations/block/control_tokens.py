"""Neutralise parts of recalled text that a model could read as prompt structure.

Stored text may contain an attack: tags that close the memory block, control tokens of chat
templates (`<|im_start|>`, `[INST]`, `<<SYS>>`, `</s>`, `### System:`), speaker names at the
beginning of a line, or any of these written with look-alike or invisible characters. The words stay
readable: only the characters that form the structure are replaced.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

# Maps each ASCII character to the characters that a model or a normaliser may mistake for it.
_LOOK_ALIKES = {
    "<": "＜﹤‹〈〈⟨❬❮❰≮˂ᐸᚲ⧼«《",
    ">": "＞﹥›〉〉⟩❭❯❱≯˃ᐳ⧽»》",
    "[": "［【〔⟦❲⁅〖〘〚",
    "]": "］】〕⟧❳⁆〗〙〛",
    "|": "｜│∣ǀ¦❘⏐▏╎",
    "/": "／⁄∕⧸╱",
    "#": "＃♯⌗",
    ":": "：﹕ː꞉∶︰",
    "_": "＿▁ˍ",
    "I": "ІΙӀ",
    "N": "Ν",
    "S": "Ѕ",
    "T": "ТΤ",
    "A": "АΑ",
    "E": "ЕΕ",
    "H": "НΗ",
    "M": "МΜ",
    "U": "Ս",
    "a": "аα",
    "e": "е",
    "i": "іι",
    "m": "м",
    "n": "ո",
    "o": "оο",
    "p": "р",
    "s": "ѕ",
    "t": "т",
    "u": "υ",
    "y": "у",
}
# Brackets of book titles and quotations. They are kept unless they enclose a control word.
_DOUBLE = frozenset("«»《》")
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b"
    "\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINERS = re.compile("[\u200c\u200d]{2,}")
# A zero-width joiner is valid between letters of some scripts and in emoji, but not next to ASCII.
_JOINER = re.compile("(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")
_MARKS = re.compile(
    r"(?<=[<>\[\]|/#:])[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d"
    r"\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]++|(?<=[^\W\d])[\ufe00-\ufe0f]++|(?<=[*])\ufe0f"
)
# Fast check: most texts contain none of these characters and need no replacement.
_OPENERS = re.compile(
    "[" + re.escape("".join(one + _LOOK_ALIKES[one] for one in "<[#:")) + "\u200c\u200d]"
)
_CONTROL = (
    r"(?:memory[_\s]?block|sys(?:tem)?(?:_prompt)?|inst(?:ruction)?s?|user|human|assistant|model|"
    r"tool(?:_calls?|_results?|s)?|available_tools|function_calls|im_\w++|eot_id|bos|eos|pad|unk|"
    r"cls|sep|g?mask|sop|eop|s|(?:start|end)_of_turn|think)"
)
_CONTROL_WORD = re.compile(rf"\A[\s/|!?]*+{_CONTROL}[\s/|!?]*+", re.IGNORECASE)
# Possessive quantifiers, and matching only at the start of a run of brackets, keep the time linear.
_TOKEN = re.compile(
    rf"(?<!<)<++(?P<named>[^\W\d][^<>]*+|\s++{_CONTROL}[\s/|]*+)>++"
    r"|(?<!<)<++(?P<signed>\s*+[/!?|][^<>]*+)>++"
    r"|(?<![<\w])<++(?P<begun>(?=[^\W\d])(?:memory_++block)?+)"
    r"|(?<!<)<++(?P<begun_signed>\s*+[/!?|](?:\s*+memory_++block)?+)"
    rf"|(?<!\[)\[++(?P<square>\s*+/?+\s*+{_CONTROL}\s*+)\]++",
    re.IGNORECASE,
)
_LINES = re.compile(r"(\\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029])")
_SPEAKER = "system|user|human|assistant|developer|ai|系统|用户|助手|人类|系統|用戶"
_ROLE = re.compile(rf"\A[\s>*_`\"'\-]*+(?P<role>{_SPEAKER})\s*+[*_`\"']*+\s*+:++", re.IGNORECASE)
_HEADING = re.compile(
    rf"(?<!#)#++\s*+(?P<role>{_SPEAKER}|instructions?+|response|input|output|tool)\s*+:++",
    re.IGNORECASE,
)
_Found = list[tuple[tuple[int, int], str]]


def neutralize_control_tokens(text: str) -> str:
    """Return the text on one line, without anything that a model could read as prompt structure."""
    text = _HIDDEN.sub("", text)
    if _OPENERS.search(text):
        # Run twice, since a tag may contain a token in square brackets.
        plain = _without_tokens(_without_tokens(_without_joiners(text)))
        text = "".join(map(_without_role, _LINES.split(plain)))
    return " ".join(text.split())


def _without_joiners(text: str) -> str:
    if text.isascii():
        return text
    text = _JOINERS.sub("", text)
    for pattern in (_JOINER, _MARKS):
        text = _replaced(text, [(one.span(), "") for one in pattern.finditer(_folded(text))])
    return text


def _without_tokens(text: str) -> str:
    found: _Found = []
    for one in _TOKEN.finditer(_folded(text)):
        name = str(one.lastgroup)
        if name in ("named", "begun") and _is_title(text[one.start() : one.start(name)], one[name]):
            continue
        closing = "" if name.startswith("begun") else ")"
        found.append((one.span(), f"({_plain(one[name])}{closing}"))
    return _replaced(text, found)


def _is_title(brackets: str, inner: str) -> bool:
    return _DOUBLE.issuperset(brackets) and not _CONTROL_WORD.fullmatch(inner)


def _plain(inner: str) -> str:
    """Return the text from inside a control token's brackets, as plain words.

    Pipes and spaces at both ends are removed; "memory_block" becomes "memory block".
    """
    return re.sub(r"(?i)memory_+block", "memory block", inner).strip("| ")


def _without_role(line: str) -> str:
    folded = _folded(line)
    found: _Found = [(one.span(), f"({one['role']})") for one in _HEADING.finditer(folded)]
    role = _ROLE.match(folded)
    if role is not None:
        found.insert(0, (role.span(), f"({role['role']})"))
    return _replaced(line, found)


def _replaced(text: str, found: _Found) -> str:
    parts, last = [], 0
    for (start, end), replacement in found:
        parts += [text[last:start], replacement]
        last = end
    return "".join([*parts, text[last:]])


def _folded(text: str) -> str:
    """Return the text with each look-alike character replaced by the ASCII character it resembles.

    The length doesn't change.
    """
    return text if text.isascii() else text.translate(_table())


@cache
def _table() -> dict[int, str]:
    table: dict[int, str] = {}
    # Full-width forms, mathematical letters and letter-like symbols.
    for code in (*range(0xFF01, 0xFF5F), *range(0x1D400, 0x1D800), *range(0x2100, 0x2150)):
        plain = unicodedata.normalize("NFKC", chr(code))
        if len(plain) == 1 and plain.isascii():
            table[code] = plain
    for plain, others in _LOOK_ALIKES.items():
        table |= dict.fromkeys(map(ord, others), plain)
    return table
