"""Convert Markdown to safe HTML: CommonMark with tables, bare links and highlighted code.

Raw HTML in the text is escaped. The output is also sanitised by nh3, in case the renderer has a
security bug.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

# Longer or more deeply nested texts are shown without rendering.
LONGEST = 100_000
_DEEPEST = 40
_TAGS = {
    "span",
    *("p", "br", "hr", "h2", "h3", "h4", "h5", "h6", "strong", "em", "s", "a", "blockquote"),
    *("ul", "ol", "li", "pre", "code", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "code": {"class"}}
_SCHEMES = {"http", "https", "mailto"}
_CJK = "，。；：！？、（）【】《》「」“”"
_ADDRESS = re.compile(rf"https?://[^\s<>\"'`{_CJK}]*[^\s<>\"'`{_CJK}.,;:!?)\]}}*_~]")
_CODE = re.compile(r'<pre><code(?: class="language-([^"]*)")?>')
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_TABLE = re.compile(r"<table>")


def as_html(text: str, *, under: int = 2) -> SafeString:
    """Render the Markdown as HTML.

    `under` is the level of the heading above the text. The highest heading in the text gets the
    next lower level (`<h3>` by default), and no level is skipped.
    """
    tokens = _renderer().parse(text[:LONGEST])
    opened = [token for token in tokens if token.type == "heading_open"]
    depths = sorted({token.tag for token in opened})
    last = under
    for token, end in zip(
        opened, (token for token in tokens if token.type == "heading_close"), strict=True
    ):
        last = min(6, last + 1, under + 1 + depths.index(token.tag))
        token.tag = end.tag = f"h{last}"
    if len(text) > LONGEST or any(token.level >= _DEEPEST for token in tokens):
        return mark_safe(f"<p>{escape(text)}</p>")  # nosec
    made = nh3.clean(
        _renderer().renderer.render(tokens, _renderer().options, {}),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes={"span": set(CLASSES)},
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    html = _CODE.sub(_code_head, made).replace("</code></pre>", "</code></pre></div>")
    html = _TABLE.sub('<div class="prose__wide" tabindex="0"><table>', html)
    return mark_safe(html.replace("</table>", "</table></div>"))  # nosec


@cache
def _renderer() -> MarkdownIt:
    options = {
        "html": False,
        "breaks": True,
        "maxNesting": _DEEPEST + 10,
        "highlight": lambda code, language, attributes: colored(code, language),
    }
    made = MarkdownIt("commonmark", options)
    made.enable(["table", "strikethrough"]).disable("code")
    made.add_render_rule("image", _image)
    made.core.ruler.push("addresses", _link_addresses)
    made.validateLink = _leads_elsewhere  # type: ignore[assignment]
    return made


def _leads_elsewhere(address: str) -> bool:
    """Return whether the address has an allowed scheme such as https.

    Links without a scheme are refused, since they would point into this site.
    """
    return address.strip().lower().startswith(tuple(f"{scheme}:" for scheme in _SCHEMES))


def _image(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Render an image as a link, since loading it would reveal the reader to the image's server."""
    token = tokens[index]
    address, words = escape(token.attrGet("src") or ""), escape(token.content)
    return f'<a href="{address}">{words or address}</a>'


def _link_addresses(state: object) -> None:
    for block in state.tokens:  # type: ignore[attr-defined]
        if block.type == "inline" and "://" in block.content:
            block.children = _linked(block.children or [])


def _linked(tokens: list[Token]) -> list[Token]:
    made: list[Token] = []
    depth = 0
    for token in tokens:
        depth += {"link_open": 1, "link_close": -1}.get(token.type, 0)
        if token.type == "text" and depth == 0:
            made += _split(token)
        else:
            made.append(token)
    return made


def _split(token: Token) -> list[Token]:
    made: list[Token] = []
    end = 0
    for found in _ADDRESS.finditer(token.content):
        made.append(_text(token.content[end : found.start()]))
        made.append(Token("link_open", "a", 1, attrs={"href": found.group()}))
        made += [_text(found.group()), Token("link_close", "a", -1)]
        end = found.end()
    return [*made, _text(token.content[end:])]


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _code_head(found: re.Match[str]) -> str:
    named = _LANGUAGE.fullmatch(found.group(1) or "")
    name = named.group() if named else ""
    button = (
        '<button class="button button--quiet button--small js-only" type="button"'
        f' data-copy-code data-copied="{escape(_("Copied."))}">{escape(_("Copy"))}</button>'
    )
    head = f'<div class="code__head" data-not-copied><span>{name}</span>{button}</div>'
    return f'<div class="code">{head}<pre tabindex="0"><code>'


_UNSAFE = re.compile(r"[^\w\- .,()（）]+")


def quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines() or [""])


def one_line(text: str) -> str:
    return " ".join(text.split())


def file_name(text: str, *, fallback: str) -> str:
    """Turn the text into a file name of at most 60 characters without special characters.

    Letters of any script are kept. Return `fallback` if nothing is left.
    """
    kept = _UNSAFE.sub(" ", one_line(text)).strip(" .")
    return one_line(kept)[:60].strip(" .") or fallback


_INNER = str.maketrans({"「": "『", "」": "』", "“": "‘", "”": "’"})


def shorten(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def with_inner_quotation_marks(text: str) -> str:
    """Replace the quotation marks “” and 「」 with ‘’ and 『』, for text that will be quoted."""
    return text.translate(_INNER)


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
    """Return the code as escaped HTML, with syntax highlighting if the language is known."""
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
