"""The names of memory files, and paths as an agent's memory tool writes them."""

from __future__ import annotations

import re
import unicodedata

MEMORY, LEARNINGS = "MEMORY.md", "LEARNINGS.md"
CURATED = (MEMORY, LEARNINGS)
USER, SOUL, TOOLS = "USER.md", "SOUL.md", "TOOLS.md"
LAYERS = (USER, SOUL, TOOLS)  # persona layers, in the order of the memory block
ROOT = "/memories"
LONGEST, LONGEST_NAME, DEEPEST = 200, 100, 8  # characters, characters, names
_MOST_BYTES = 240  # per name: the limit of file systems, with room for a mark
_ENCODED = re.compile(r"%(?:2e|2f|5c|00|25)", re.IGNORECASE)
_ODD = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


class BadPath(ValueError):
    """Describes what is wrong with a path, in words for the caller."""


def below_root(path: str) -> str:
    """Return the path within `/memories`, "" for the folder itself. Raises `BadPath`.

    Each file has a single name: repeated and trailing slashes are ignored, characters are composed
    (NFC). Nothing is decoded, and percent-encoded separators and dots are refused.
    """
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise BadPath(f"Path must start with {ROOT}, got: {path}")
    names = [name for name in path.removeprefix(ROOT).split("/") if name]
    if "\\" in path or _ENCODED.search(path) or any(name in (".", "..") for name in names):
        raise BadPath(f"Path {path} would escape {ROOT} directory")
    inside = unicodedata.normalize("NFC", "/".join(names))
    for name in inside.split("/") if inside else []:
        _check(name)
    if len(inside) > LONGEST or len(names) > DEEPEST:
        raise BadPath(f"A path has at most {LONGEST} characters and {DEEPEST} names.")
    return inside


def _check(name: str) -> None:
    if any(unicodedata.category(sign) in _ODD for sign in name):
        raise BadPath("A path must not contain control characters or invisible ones.")
    if name.startswith("."):
        raise BadPath("A name in a path must not begin with a dot.")
    if name != name.strip():
        raise BadPath("A name in a path must not begin or end with a space.")
    if len(name) > LONGEST_NAME or len(name.encode()) > _MOST_BYTES:
        raise BadPath(f"A name in a path has at most {LONGEST_NAME} characters.")
