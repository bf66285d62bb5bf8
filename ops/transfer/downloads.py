"""The download of a finished export."""

from __future__ import annotations

from django.http import FileResponse
from django.utils.cache import patch_cache_control

from memcenter.lib.errors import NotFound
from ops.models import Export
from ops.transfer import stored_files

_TYPES = {"json": "application/json", "zip": "application/zip"}


def as_attachment(export: Export) -> FileResponse:
    """Return the export as an attachment. Raises `NotFound` if a forget has erased it."""
    try:
        file = stored_files.place(stored_files.EXPORTS).open(export.path)
    except FileNotFoundError as error:
        raise NotFound("There is no such export any more.") from error
    what = "conversation" if export.conversation_public_id else "everything"
    name = f"memory-center-{what}-{export.created_at:%Y-%m-%d}.{export.format}"
    response = FileResponse(
        file, as_attachment=True, filename=name, content_type=_TYPES[export.format]
    )
    response["ETag"] = f'"{export.sha256}"'
    response["X-Content-Type-Options"] = "nosniff"
    patch_cache_control(response, private=True, no_store=True)
    return response
