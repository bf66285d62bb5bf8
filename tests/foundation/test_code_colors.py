"""Code with its comments, strings, keywords and names marked."""

import html
import re

import pytest

from foundation.text.richtext import CLASSES, as_html, colored


def marks(code: str, language: str) -> list[tuple[str, str]]:
    return re.findall(r'<span class="tok-(\w+)">(.*?)</span>', colored(code, language), re.DOTALL)


@pytest.mark.parametrize(
    ("language", "code", "found"),
    [
        (
            "python",
            "def add(a):  # sums\n    return a + 10",
            [
                ("keyword", "def"),
                ("name", "add"),
                ("comment", "# sums"),
                ("keyword", "return"),
                ("number", "10"),
            ],
        ),
        ("py", "x = 'a # b'", [("string", "&#x27;a # b&#x27;")]),
        (
            "js",
            "let x = `a`; /* b */",
            [("keyword", "let"), ("string", "`a`"), ("comment", "/* b */")],
        ),
        ("Go", "// only this", [("comment", "// only this")]),
        ("sql", "SELECT 1 -- one", [("keyword", "SELECT"), ("number", "1"), ("comment", "-- one")]),
        ("json", '{"a": "b"}', [("name", "&quot;a&quot;"), ("string", "&quot;b&quot;")]),
        (
            "html",
            "<b>it's</b>",
            [("keyword", "&lt;b"), ("keyword", "&gt;"), ("keyword", "&lt;/b"), ("keyword", "&gt;")],
        ),
        ("diff", "+new\n-old\n same", [("ins", "+new"), ("del", "-old")]),
        ("brainfuck", "def x", []),
        ("", "def x", []),
    ],
)
def test_the_parts_of_code_are_marked(
    language: str, code: str, found: list[tuple[str, str]]
) -> None:
    assert marks(code, language) == found


@pytest.mark.parametrize("language", ["python", "js", "sh", "sql", "json", "html", "diff", "x"])
@pytest.mark.parametrize(
    "code", ["", '"open', "/* open", '"""open', "<!-- open", "`", "a\\", "杭州('蓝')", "<script>"]
)
def test_nothing_is_lost_and_nothing_gets_through(language: str, code: str) -> None:
    made = colored(code, language)
    plain = re.sub(r'</?span(?: class="tok-\w+")?>', "", made)
    assert html.unescape(plain) == code and "<script" not in made


def test_answers_show_it_and_other_classes_are_not_let_in() -> None:
    made = as_html("```python\nimport this  # now\n```")
    assert '<span class="tok-keyword">import</span>' in made
    assert '<span class="tok-comment"># now</span>' in made
    assert all(f"tok-{one}" in CLASSES for one in re.findall(r"tok-(\w+)", made))
    assert "<span" not in as_html('<span class="tok-keyword">x</span>').replace("<span></span>", "")
