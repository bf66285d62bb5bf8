"""Markdown as HTML that is safe to show."""

import re

import pytest

from foundation.text.richtext import LONGEST, as_html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**b** and `c`", "<strong>b</strong> and <code>c</code>"),
        ("so:\n- one\n- two", "<ul>\n<li>one</li>\n<li>two</li>\n</ul>"),
        ("3. three", '<ol start="3">'),
        ("one\ntwo", "one<br>\ntwo"),
        ("# Title", "<h3>Title</h3>"),
        ("| a |\n|---|\n| 1 |", "<td>1</td>"),
        ("~~gone~~", "<s>gone</s>"),
        ("花生**过敏**", "<strong>过敏</strong>"),
    ],
)
def test_markdown_is_carried_out(text: str, html: str) -> None:
    assert html in as_html(text)


def test_headings_skip_no_level() -> None:
    made = as_html("### Plan\n\n##### Deep\n\n# Top\n\n##### Deep", under=1)
    assert re.findall(r"<h\d>.*?</h\d>", made) == [
        "<h2>Plan</h2>", "<h3>Deep</h3>", "<h2>Top</h2>", "<h3>Deep</h3>",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<a href="javascript:alert(1)">x</a>',
        '```x"><script>alert(1)</script>\n```',
        "</code></pre><iframe src=//evil></iframe>",
        "&lt;script&gt;",
    ],
)
def test_html_of_the_writer_is_only_shown(text: str) -> None:
    made = as_html(text)
    assert all(tag not in made for tag in ("<script", "<img", "<iframe", "<a "))


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "/memory/", "//evil", "JaVaScRiPt:x"]
)
def test_links_lead_to_other_sites_only(address: str) -> None:
    assert "<a" not in as_html(f"[x]({address})")


def test_links_say_nothing_of_where_they_were_followed() -> None:
    assert 'rel="noopener noreferrer nofollow"' in as_html("[x](https://example.com)")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("见 https://example.com/a?b=1，好。", "https://example.com/a?b=1"),
        ("(https://example.com/a).", "https://example.com/a"),
        ("**https://example.com**", "https://example.com"),
    ],
)
def test_a_bare_address_is_a_link_without_what_follows_it(text: str, address: str) -> None:
    assert f'href="{address}"' in as_html(text)


def test_an_address_in_code_is_no_link() -> None:
    assert "<a" not in as_html("`https://example.com`")


def test_a_picture_is_a_link_so_that_nobody_learns_who_reads() -> None:
    made = as_html("![a cat](https://example.com/cat.png)")
    assert ">a cat</a>" in made and "<img" not in made


def test_code_has_its_language_and_a_way_to_copy_it() -> None:
    made = as_html("```python\nprint('<b>')\n```")
    assert "<span>python</span>" in made and "data-copy-code" in made
    assert "'&lt;b&gt;'</span>)" in made


def test_whatever_nests_deep_or_is_very_long_still_comes_back() -> None:
    assert "x" in as_html("> " * 500 + "x")
    assert as_html("x" * (LONGEST + 1)).startswith("<p>xxx")
