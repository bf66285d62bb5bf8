"""Markdown as safe HTML: CommonMark with tables and bare addresses, no HTML of the writer's own.

What the renderer makes is cleaned once more by nh3, so that no slip of it reaches a page.
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

# Deeper nesting and longer texts than people or models write on purpose are shown as they are.
LONGEST = 100_000
_DEEPEST = 40
_TAGS = {
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
    """The text with its Markdown carried out.

    Its headings stand below one of level `under`, by default a message's own, and skip no level.
    """
    tokens = _renderer().parse(text[:LONGEST])
    _place_headings(tokens, under=under)
    if len(text) > LONGEST or any(token.level >= _DEEPEST for token in tokens):
        return mark_safe(f"<p>{escape(text)}</p>")  # nosec
    made = nh3.clean(
        _renderer().renderer.render(tokens, _renderer().options, {}),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    return mark_safe(_with_tools(made))  # nosec


@cache
def _renderer() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": _DEEPEST + 10})
    made.enable(["table", "strikethrough"]).disable("code")
    made.add_render_rule("image", _image)
    made.core.ruler.push("addresses", _link_addresses)
    made.validateLink = _leads_elsewhere  # type: ignore[assignment]
    return made


def _leads_elsewhere(address: str) -> bool:
    """An address without a scheme would lead about in this very site."""
    return address.strip().lower().startswith(tuple(f"{one}:" for one in _SCHEMES))


def _image(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """A link: a picture from elsewhere would tell its server who reads this, and when."""
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
    """Bare addresses become links, outside of links and code."""
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
    """Code with its language and a button to copy it; wide tables scroll by themselves.

    `<pre>` and `<table>` can only be ours here: what was written is escaped by now.
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
