"""Markdown to safe HTML: CommonMark with tables and bare links, without raw HTML.

The output is sanitised by nh3 as well, in case the renderer lets something pass.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from memcenter.lib.text import code_colors

# Texts that are nested deeper or longer than real ones are shown without rendering.
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

    Headings are placed below level `under` (by default a message's heading) and skip no level.
    """
    tokens = _renderer().parse(text[:LONGEST])
    _place_headings(tokens, under=under)
    if len(text) > LONGEST or any(token.level >= _DEEPEST for token in tokens):
        return mark_safe(f"<p>{escape(text)}</p>")  # nosec
    made = nh3.clean(
        _renderer().renderer.render(tokens, _renderer().options, {}),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes={"span": set(code_colors.CLASSES)},
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    return mark_safe(_with_tools(made))  # nosec


@cache
def _renderer() -> MarkdownIt:
    options = {"html": False, "breaks": True, "maxNesting": _DEEPEST + 10, "highlight": _colored}
    made = MarkdownIt("commonmark", options)
    made.enable(["table", "strikethrough"]).disable("code")
    made.add_render_rule("image", _image)
    made.core.ruler.push("addresses", _link_addresses)
    made.validateLink = _leads_elsewhere  # type: ignore[assignment]
    return made


def _colored(code: str, language: str, attributes: str) -> str:
    return code_colors.colored(code, language)


def _leads_elsewhere(address: str) -> bool:
    """Accept only links with a scheme, since others would point into this site."""
    return address.strip().lower().startswith(tuple(f"{one}:" for one in _SCHEMES))


def _image(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Render an image as a link, since loading it would tell its server who reads this."""
    token = tokens[index]
    address, words = escape(token.attrGet("src") or ""), escape(token.content)
    return f'<a href="{address}">{words or address}</a>'


def _place_headings(tokens: Sequence[Token], *, under: int) -> None:
    opened = [token for token in tokens if token.type == "heading_open"]
    depths = sorted({token.tag for token in opened})
    last = under
    for token, end in zip(
        opened, (token for token in tokens if token.type == "heading_close"), strict=True
    ):
        last = min(6, last + 1, under + 1 + depths.index(token.tag))
        token.tag = end.tag = f"h{last}"


def _link_addresses(state: object) -> None:
    """Turn bare URLs into links, outside of links and code."""
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


def _with_tools(html: str) -> str:
    """Add language and copy button to code, and scrolling to wide tables.

    Every `<pre>` and `<table>` is ours here, since user HTML is escaped already.
    """
    html = _CODE.sub(_code_head, html).replace("</code></pre>", "</code></pre></div>")
    html = _TABLE.sub('<div class="prose__wide" tabindex="0"><table>', html)
    return html.replace("</table>", "</table></div>")


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
    """Return the text as a block quotation with its markup escaped."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines() or [""])


def one_line(text: str) -> str:
    return " ".join(text.split())


def file_name(text: str, *, fallback: str) -> str:
    """Return a file name valid on every system; letters of any script stay."""
    kept = _UNSAFE.sub(" ", one_line(text)).strip(" .")
    return one_line(kept)[:60].strip(" .") or fallback


_INNER = str.maketrans({"「": "『", "」": "』", "“": "‘", "”": "’"})


def inner(text: str) -> str:
    """Use the marks of a nested quotation: 「来自『小满』」, “from ‘Seville’”."""
    return text.translate(_INNER)
