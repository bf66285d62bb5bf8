"""A storage for collected static files that merges the stylesheet with the files it imports.

On a slow connection, each separate file would delay the page. In development, the files aren't
merged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

STYLESHEET = "css/app.css"
_IMPORT = re.compile(r'@import url\("([\w./-]+)"\) layer\((\w+)\);')


class StaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Stores files under hashed names, with compressed copies and a merged stylesheet."""

    def post_process(
        self, paths: dict[str, tuple[Storage, str]], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        if not dry_run and STYLESHEET in paths:
            text = _IMPORT.sub(lambda match: _layer(paths, match), _read(paths, STYLESHEET))
            self.delete(STYLESHEET)
            self._save(STYLESHEET, ContentFile(text.encode()))
            paths = {**paths, STYLESHEET: (self, STYLESHEET)}
        yield from super().post_process(paths, dry_run=dry_run, **options)


def _layer(paths: Mapping[str, tuple[Storage, str]], match: re.Match[str]) -> str:
    name = str(PurePosixPath(STYLESHEET).parent / match[1])
    return f"@layer {match[2]} {{\n{_read(paths, name)}}}\n"


def _read(paths: Mapping[str, tuple[Storage, str]], name: str) -> str:
    storage, path = paths[name]
    with storage.open(path) as file:
        return str(file.read().decode())
