"""Uploads with a size limit, stored privately from the first byte."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import storages
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload

TAKES_FILES = ("/api/v1/memory/import", "/memory/data/import/")
_FORM_BYTES = 1 << 20
"""What stands around a file in a form."""


class PrivateUpload(FileUploadHandler):
    """Writes to the data folder instead of the shared temporary folder, up to the limit.

    A larger upload is read to its end and dropped; the view finds no file and reports it.
    """

    chunk_size = 1 << 20

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        folder = Path(storages["parts"].path(""))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # An unnamed file, so that nothing is left however this process ends.
        self._raw = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - it outlives this call
        self._bytes = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        self._bytes += len(raw_data)
        if self._bytes > self._limit():
            self._raw.close()
            raise StopUpload(connection_reset=False)
        self._raw.write(raw_data)
        return None

    def file_complete(self, file_size: int) -> UploadedFile:  # type: ignore[type-arg] # it takes none when it runs
        self._raw.seek(0)
        return UploadedFile(
            file=self._raw,
            name=self.file_name,
            content_type=self.content_type,
            size=file_size,
            charset=self.charset,
        )

    def upload_interrupted(self) -> None:
        self._raw.close()

    def _limit(self) -> int:
        path = self.request.path if self.request is not None else ""
        takes = path.startswith(TAKES_FILES)
        return settings.MAX_IMPORT_BYTES if takes else settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0


def is_too_large(content_length: str | None) -> bool:
    """Tell by the content length whether an import must be too large."""
    try:
        return int(content_length or 0) > settings.MAX_IMPORT_BYTES + _FORM_BYTES
    except ValueError:
        return False
