"""Mark the comments, strings, keywords, numbers and names of code, for common languages.

One pattern for each family of languages finds the marks from left to right. It never fails: code
that it misunderstands is only coloured wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.html import escape

CLASSES = frozenset(
    f"tok-{name}" for name in ("comment", "string", "keyword", "number", "name", "ins", "del")
)
_DOUBLE = r'"(?:[^"\\\n]|\\.)*"?'
_SINGLE = r"'(?:[^'\\\n]|\\.)*'?"
_BACKTICK = r"`(?:[^`\\]|\\.)*`?"
_TRIPLE = r'"""(?:[^"\\]|\\.|"(?!""))*(?:""")?' r"|'''(?:[^'\\]|\\.|'(?!''))*(?:''')?"
_BLOCK = r"/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/)?"
_REST = r"(?P<number>\b\d[\w.]*)|(?P<word>[^\W\d]\w*)(?P<call>\()?"


@dataclass(frozen=True)
class _Family:
    pattern: re.Pattern[str]
    keywords: frozenset[str] = frozenset()
    ignores_case: bool = False


def _family(comment: str, string: str, keywords: str, *, ignores_case: bool = False) -> _Family:
    shape = f"(?P<comment>{comment})|(?P<string>{string})|{_REST}"
    words = keywords.split()
    return _Family(re.compile(shape, re.DOTALL), frozenset(words), ignores_case)


_FAMILIES = {
    "python": _family(
        r"#[^\n]*",
        f"{_TRIPLE}|{_DOUBLE}|{_SINGLE}",
        "False None True and as assert async await break case class continue def del elif else"
        " except finally for from global if import in is lambda match nonlocal not or pass raise"
        " return self try while with yield",
    ),
    "c": _family(
        rf"//[^\n]*|{_BLOCK}",
        f"{_DOUBLE}|{_SINGLE}|{_BACKTICK}",
        "abstract as async await bool boolean break byte case catch chan char class const continue"
        " default defer delete do double else enum export extends extern false final finally float"
        " fn for from func function go goto if impl implements import in instanceof int interface"
        " let long loop map match mod mut namespace new nil null of override package private"
        " protected pub public range readonly return self short sizeof static string struct super"
        " switch template this throw throws trait true try type typedef typeof undefined union"
        " unsigned use using val var void when where while yield",
    ),
    "shell": _family(
        r"(?<!\S)#[^\n]*",
        f"{_DOUBLE}|{_SINGLE}",
        "break case cd continue do done echo elif else end ensure esac exit export fi for function"
        " if in local module require rescue return self set source sudo then true false unless"
        " until while def class begin nil null",
    ),
    "sql": _family(
        rf"--[^\n]*|{_BLOCK}",
        f"{_SINGLE}|{_DOUBLE}",
        "add all alter and any as asc begin between by case commit constraint create cross default"
        " delete desc distinct drop else end exists foreign from full group having if in index"
        " inner insert into is join key left like limit not null offset on or order outer primary"
        " references returning right rollback select set table then union unique update using"
        " values view when where with",
        ignores_case=True,
    ),
    "data": _Family(
        re.compile(
            rf"(?P<comment>{_BLOCK})|(?P<string>{_DOUBLE}|{_SINGLE})(?P<key>\s{{0,4}}:)?"
            r"|(?P<word>[\w-]+)(?P<call>\s{0,4}:)?",
            re.DOTALL,
        ),
        frozenset(("true", "false", "null", "important")),
    ),
    "markup": _Family(
        re.compile(
            r"(?P<comment><!--[^-]*(?:-(?!->)[^-]*)*(?:-->)?)"
            r"|(?P<keyword></?[A-Za-z][\w:.-]*|/?>)|(?P<string>(?<==)\"[^\"\n]*\"?)"
        )
    ),
    "diff": _Family(re.compile(r"(?P<ins>^\+[^\n]*)|(?P<del>^-[^\n]*)", re.MULTILINE)),
}
_LANGUAGES = {
    "python": "python py python3",
    "c": "c cpp c++ cc h hpp cs csharp java js javascript jsx ts typescript tsx go golang rust rs"
    " kotlin kt swift scala dart php zig",
    "shell": "sh bash zsh shell console fish ruby rb yaml yml toml ini dockerfile makefile perl r"
    " elixir",
    "sql": "sql postgresql postgres mysql sqlite",
    "data": "json json5 jsonc css scss less",
    "markup": "html xml svg vue",
    "diff": "diff patch",
}
_BY_NAME = {name: _FAMILIES[key] for key, names in _LANGUAGES.items() for name in names.split()}


def colored(code: str, language: str) -> str:
    """Return the code as escaped HTML with its parts in spans; only escaped if unknown."""
    family = _BY_NAME.get(language.casefold())
    return "".join(_parts(code, family)) if family is not None else escape(code)


def _parts(code: str, family: _Family) -> Iterator[str]:
    end = 0
    for found in family.pattern.finditer(code):
        name, text = _named(found, family)
        yield escape(code[end : found.start()])
        yield f'<span class="tok-{name}">{escape(text)}</span>' if name else escape(text)
        end = found.start() + len(text)
    yield escape(code[end:])


def _named(found: re.Match[str], family: _Family) -> tuple[str, str]:
    """Return the kind of a part, empty for a plain word, and its text."""
    groups = found.groupdict()
    word = groups.get("word")
    if groups.get("key"):
        return "name", groups["string"]
    if word is None:
        return str(found.lastgroup), found.group()
    if word[0].isdigit():
        return "number", word
    if (word.casefold() if family.ignores_case else word) in family.keywords:
        return "keyword", word
    return ("name" if groups.get("call") else ""), word
