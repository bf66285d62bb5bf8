"""Cut the icon font of django-unfold to the icons that the admin can show: 292 kB to 6.

    python -m tests.admin_icons

Run it after an update of django-unfold, in an environment that has django-unfold, fonttools and
brotli. `tests/test_admin_files.py` fails while an icon is missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "static/unfold/fonts/material-symbols"
FONT, LIST = FOLDER / "Material-Symbols-Outlined.woff2", FOLDER / "icons.txt"
_NAMED = (
    re.compile(r"material-symbols-outlined[^<>]*>\s*([a-z][a-z_0-9]+)\s*<"),
    re.compile(r'icon(?:=|"?: ?)"([a-z][a-z_0-9]+)"'),
)
_BY_DEFAULT = {"settings"}  # stands in a condition


def package() -> Path:
    spec = find_spec("unfold")
    assert spec and spec.origin, "django-unfold isn't installed"
    return Path(spec.origin).parent


def named_icons() -> set[str]:
    """Return the icons that the package's templates and programs name."""
    files = [one for kind in ("html", "py", "js") for one in package().rglob(f"*.{kind}")]
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    return {name for text in texts for one in _NAMED for name in one.findall(text)} | _BY_DEFAULT


def main() -> None:
    from fontTools import subset
    from fontTools.ttLib import TTFont

    names = sorted(named_icons())
    font = TTFont(package() / "static/unfold/fonts/material-symbols" / FONT.name)
    letters: Mapping[int, str] = font.getBestCmap()
    found = _icons(font)
    spelled = {name: tuple(letters[ord(sign)] for sign in name) for name in names}
    # Without closure: else the letters bring all icons that can be spelled with them.
    options = subset.Options(layout_closure=False, layout_features=["*"], hinting=False)
    subsetter = subset.Subsetter(options)
    signs = {glyph for one in spelled.values() for glyph in one}
    subsetter.populate(glyphs=signs | {found[one] for one in spelled.values()})
    subsetter.subset(font)
    font.flavor = "woff2"
    font.save(FONT)
    LIST.write_text("\n".join(names) + "\n", encoding="utf-8")


def _icons(font: Any) -> dict[tuple[str, ...], str]:
    """Return the glyph of each icon by the glyphs of the letters that spell it."""
    found: dict[tuple[str, ...], str] = {}
    for lookup in font["GSUB"].table.LookupList.Lookup:
        for table in lookup.SubTable:
            table = getattr(table, "ExtSubTable", table)
            for first, rows in getattr(table, "ligatures", {}).items():
                found |= {(first, *row.Component): row.LigGlyph for row in rows}
    return found


if __name__ == "__main__":
    main()
