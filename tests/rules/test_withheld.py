"""Whether a message may be learned from is asked in one place: `memories.learning.learnability`.

A path with a filter of its own would go on learning when a reason not to is added.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live import ROOT

APPS = ("conversations", "foundation", "memcenter", "memories", "ops")
PLACE = "memories/learning/learnability.py"
COLUMN = {PLACE, "conversations/models.py"}  # the model declares it
_NAMED = re.compile(r"(?:\b|__)(?:withheld|Withheld)(?:\b|__)")


def product() -> dict[str, str]:
    found = [one for app in APPS for one in (ROOT / app).rglob("*.py")]
    found += (ROOT / "templates").rglob("*.html")
    names = {str(one.relative_to(ROOT)): one for one in found if "migrations" not in one.parts}
    return {name: Path(one).read_text() for name, one in names.items()}


def uses(source: str) -> list[int]:
    """The lines that name the column: in an attribute, an argument, a query or SQL."""
    tree = ast.parse(source)
    prose = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    return sorted({line for line, text in _words(tree, prose) if _NAMED.search(text)})


def _words(tree: ast.AST, prose: set[int]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=text, lineno=line) | ast.Name(id=text, lineno=line):
                yield line, text
            case ast.keyword(arg=str(text), lineno=line) | ast.alias(name=text, lineno=line):
                yield line, text
            case ast.arg(arg=text, lineno=line):
                yield line, text
            case ast.Constant(value=str(text), lineno=line) if id(node) not in prose:
                yield line, text


def test_the_column_is_used_in_one_place() -> None:
    files = product()
    assert uses(files[PLACE])
    elsewhere = {
        f"{name}:{line}"
        for name, text in files.items()
        if name.endswith(".py") and name not in COLUMN
        for line in uses(text)
    }
    shown = {name for name, text in files.items() if name.endswith(".html") and ".withheld" in text}
    assert elsewhere | shown == set()


@pytest.mark.parametrize(
    "source",
    [
        "Turn.objects.filter(user_message__withheld='')",
        "Message.objects.exclude(withheld=NO)",
        "Message.objects.filter(**{'withheld__in': ['']})",
        "rows.values_list('withheld')",
        "if message.withheld: pass",
        "WHERE = \"q.withheld = '' AND a.withheld = ''\"",
        "where = f\"{alias}.withheld = ''\"",
        "from conversations.models import Withheld",
        "getattr(message, 'withheld')",
    ],
)
def test_a_use_elsewhere_is_found(source: str) -> None:
    assert uses(source) == [1]


@pytest.mark.parametrize("source", ['"""It is withheld."""', "x = 1  # withheld", "is_withheld(x)"])
def test_prose_and_the_functions_of_the_place_are_not_uses(source: str) -> None:
    assert uses(source) == []
