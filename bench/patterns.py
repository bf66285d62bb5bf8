"""Finds all regular expressions of the project, and builds worst-case inputs for them.

Patterns are found by importing every module and searching its values recursively, and by parsing
the source for calls such as `re.sub(r"…", …)`. Inputs are built from the syntax tree of a pattern:
a prefix that leads to a repetition, many copies of the repeated part, and an end that prevents a
match.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import pkgutil
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGES = ("memories", "conversations", "ops", "memcenter", "foundation")
_PROGRAMS = ("memcenter.wsgi",)  # importing it starts a server's threads
_CALLS = frozenset(
    ["compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"]
)
_POOL = "a1 A-._,的我，。\n@:'\"/[(“「=#x0zé一\ue000\ue001~9"
_REPEATS = frozenset(["MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"])
_FEW = 8  # a repetition of at most this many times can't be slow by itself
_ENDS = ("", "\x00", "!", "\n")
# Units that are slow for many patterns, and units that users often paste.
GENERIC = (
    *("a", "A", "1", " ", "\n", ".", "-", ",", "的", "我", '"', "(", "<", "[", "*", "`", ":"),
    *("\ue000", "\ue001", "a ", "A ", "1 ", "a.", "a-", "a,", "a, ", "a@", "a'", "1-", "1."),
    *(" \n", "\n\n", "的，", "我的", "“", "「", "[a](", "<a", "a:", "a/", "://", "| ", "> "),
    *("# ", "- ", "and ", "is ", "是"),
)


@dataclass(frozen=True)
class Named:
    """A pattern and the place where it was found, such as "module:NAME[3].pattern"."""

    name: str
    pattern: re.Pattern[str]

    @property
    def module(self) -> str:
        return self.name.partition(":")[0]


def of_project() -> tuple[list[Named], list[str]]:
    """Return each pattern once, and the places whose pattern is known only at run time."""
    found: dict[tuple[str, int], Named] = {}
    unseen: list[str] = []
    for module in modules():
        inline, hidden = _inline(module)
        unseen += hidden
        for named in (*_held(module), *inline):
            found.setdefault((named.pattern.pattern, named.pattern.flags), named)
    return list(found.values()), unseen


def modules() -> Iterator[ModuleType]:
    for package in PACKAGES:
        root = importlib.import_module(package)
        yield root
        for info in pkgutil.walk_packages(root.__path__, f"{package}."):
            if ".migrations" not in info.name and info.name not in _PROGRAMS:
                yield importlib.import_module(info.name)


def _held(module: ModuleType) -> Iterator[Named]:
    visited: set[int] = set()
    for name, value in vars(module).items():
        if not name.startswith("__"):
            yield from _within(value, f"{module.__name__}:{name}", visited)


def _within(value: Any, name: str, visited: set[int]) -> Iterator[Named]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield Named(name, value)
        return
    if id(value) in visited:
        return
    visited.add(id(value))
    for key, part in _parts(value):
        yield from _within(part, f"{name}{key}", visited)


def _parts(value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, tuple | list | set | frozenset):
        return [(f"[{at}]", part) for at, part in enumerate(value)]
    if isinstance(value, Mapping):
        return [(f"[{key!r}]", part) for key, part in value.items()]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (field.name for field in dataclasses.fields(value))
        return [(f".{name}", getattr(value, name)) for name in names]
    ours = (value if isinstance(value, type) else type(value)).__module__.split(".")[0] in PACKAGES
    held = getattr(value, "__dict__", None) if ours else None
    return [(f".{name}", part) for name, part in (held or {}).items()]


def _inline(module: ModuleType) -> tuple[list[Named], list[str]]:
    """Return the patterns in calls of `re`, and the places whose pattern can't be evaluated."""
    found, hidden = [], []
    for function, call in _calls(ast.parse(_source(module))):
        place = f"{module.__name__}:{function}"
        try:
            given = eval(compile(ast.Expression(call.args[0]), place, "eval"), vars(module))
        except Exception:  # the pattern depends on local variables
            hidden.append(place)
            continue
        pattern = re.compile(given, _flags(call, module)) if isinstance(given, str) else given
        if isinstance(pattern, re.Pattern) and isinstance(pattern.pattern, str):
            found.append(Named(place, pattern))
    return found, hidden


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls of `re` within functions, each with the name of the function."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and _is_re(node.func) and node.args:
                    yield function.name, node


def _source(module: ModuleType) -> str:
    return Path(module.__file__ or "").read_text("utf-8")


def _is_re(called: ast.expr) -> bool:
    return (
        isinstance(called, ast.Attribute)
        and isinstance(called.value, ast.Name)
        and called.value.id == "re"
        and called.attr in _CALLS
    )


def _flags(call: ast.Call, module: ModuleType) -> int:
    given = [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "compile":
        given += call.args[1:2]
    return (
        int(eval(compile(ast.Expression(given[0]), "flags", "eval"), vars(module))) if given else 0
    )


# --- texts


@dataclass(frozen=True)
class Hostile:
    """A text of the form `lead`, repeated `unit`, `end`."""

    lead: str
    unit: str
    end: str

    def of_length(self, length: int) -> str:
        times = max(1, (length - len(self.lead) - len(self.end)) // max(1, len(self.unit)))
        return f"{self.lead}{self.unit * times}{self.end}"[:length]


def hostile(pattern: re.Pattern[str], *, most: int) -> list[Hostile]:
    """Return at most `most` inputs for `pattern`. The result is deterministic."""
    rng = random.Random(pattern.pattern)
    tree = _parsed(pattern)
    repeated = dict.fromkeys(_repeated(tree, "", rng))
    whole = {("", written(tree, rng)) for _ in range(3)}
    units = sorted(pair for pair in {*repeated, *whole} if pair[1])
    rng.shuffle(units)
    return [Hostile(lead, unit, _ENDS[at % 4]) for at, (lead, unit) in enumerate(units[:most])]


def sample(pattern: re.Pattern[str], rng: random.Random) -> str:
    """Return a text that the pattern probably matches."""
    return written(_parsed(pattern), rng)


def _parsed(pattern: re.Pattern[str]) -> Any:
    return importlib.import_module("re._parser").parse(pattern.pattern, pattern.flags)


def _repeated(tree: Any, lead: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Yield the prefix of each repetition and its repeated part."""
    for op, value in tree:
        name = str(op)
        if name in _REPEATS:
            if value[1] > _FEW:
                yield from ((lead, written(value[2], rng)) for _ in range(2))
            yield from _repeated(value[2], lead, rng)
        elif name == "BRANCH":
            for branch in rng.sample(value[1], min(6, len(value[1]))):
                yield from _repeated(branch, lead, rng)
        else:
            for inner in _inner(name, value):
                yield from _repeated(inner, lead, rng)
        lead += written([(op, value)], rng)


def _inner(name: str, value: Any) -> list[Any]:
    if name == "SUBPATTERN":
        return [value[3]]
    if name in ("ASSERT", "ASSERT_NOT"):
        return [value[1]]
    return [value] if name == "ATOMIC_GROUP" else []


def written(tree: Any, rng: random.Random) -> str:
    return "".join(_written(str(op), value, rng) for op, value in tree)


def _written(name: str, value: Any, rng: random.Random) -> str:
    if name == "LITERAL":
        return chr(value)
    if name in ("IN", "NOT_LITERAL", "ANY"):
        return _sign(name, value, rng)
    if name in _REPEATS:
        times = min(value[1], value[0] + rng.choice((0, 1, 2)))
        return "".join(written(value[2], rng) for _ in range(times))
    if name == "BRANCH":
        return written(rng.choice(value[1]), rng)
    if name in ("ASSERT", "ASSERT_NOT"):
        return ""
    return "".join(written(inner, rng) for inner in _inner(name, value))


def _sign(name: str, value: Any, rng: random.Random) -> str:
    if name == "ANY":
        return rng.choice(_POOL)
    if name == "NOT_LITERAL":
        return rng.choice([sign for sign in _POOL if ord(sign) != value])
    taken = [sign for sign in _POOL if _is_in(value, sign)]
    own = [
        chr(rng.randint(*_ends(op, given)))
        for op, given in value
        if str(op) in ("LITERAL", "RANGE")
    ]
    negated = bool(value) and str(value[0][0]) == "NEGATE"
    return rng.choice([*taken, *([] if negated else own)] or [""])


def _ends(op: Any, given: Any) -> tuple[int, int]:
    return (given, given) if str(op) == "LITERAL" else given


_CATEGORIES = {"DIGIT": str.isdigit, "SPACE": str.isspace}


def _is_in(items: Any, sign: str) -> bool:
    negated = str(items[0][0]) == "NEGATE"
    return negated != any(_has(str(op), value, sign) for op, value in items)


def _has(name: str, value: Any, sign: str) -> bool:
    if name in ("LITERAL", "RANGE"):
        low, high = _ends(name, value)
        return bool(low <= ord(sign) <= high)
    if name != "CATEGORY":
        return False
    kind = str(value).removeprefix("CATEGORY_")
    is_kind = _CATEGORIES.get(kind.removeprefix("NOT_"), lambda char: char.isalnum() or char == "_")
    return bool(is_kind(sign)) != kind.startswith("NOT_")
