"""Parse a form with a file into a plain object."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from rest_framework.parsers import MultiPartParser

from memcenter.lib.errors import ApplicationError
from memcenter.uploads import is_too_large


class UploadParser(MultiPartParser):
    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return a plain dict, as from JSON. Raises `too_large`."""
        request = (parser_context or {})["request"]
        if is_too_large(request.META.get("CONTENT_LENGTH")):
            limit = f"{settings.MAX_IMPORT_BYTES:,}"
            raise ApplicationError(f"The file is larger than {limit} bytes.", code="too_large")
        found = super().parse(stream, media_type, parser_context)
        return {**found.data.dict(), **found.files.dict()}


class TakesUploads:
    """A view with `UploadParser`, which closes the upload with the response."""

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        sent = getattr(request, "_full_data", None)
        for value in sent.values() if isinstance(sent, dict) else ():
            if isinstance(value, UploadedFile):
                value.close()
        return super().finalize_response(request, response, *args, **kwargs)  # type: ignore[misc]


def digest_of(value: Any) -> str:
    """Return a digest of a file, to recognise a repeated request."""
    if not isinstance(value, UploadedFile):
        raise TypeError(type(value).__name__)
    digest = hashlib.sha256()
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
    return digest.hexdigest()
