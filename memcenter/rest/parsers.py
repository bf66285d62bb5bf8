"""Parse request bodies: JSON objects of limited size and depth, and forms with a file.

JSON with NUL characters or duplicate names is refused. Uploads have a size limit, and other users
of the machine can't read them, not even while they are being received.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import orjson
from django.conf import settings
from django.core.files.storage import storages
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from rest_framework.parsers import BaseParser, MultiPartParser

from foundation.errors import ApplicationError, Invalid

MAX_DEPTH = 64


class OrjsonParser(BaseParser):
    """Parses the body as JSON, whatever its content type, since clients may forget to declare it.

    Raises `Invalid`, with the position of the problem, for anything but a JSON object, and
    `ApplicationError` with the code `too_large` for a body over the limit.
    """

    media_type = "*/*"

    @property
    def max_bytes(self) -> int:
        return settings.MAX_BODY_BYTES

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        raw = stream.read(self.max_bytes + 1)
        if len(raw) > self.max_bytes:
            raise too_large(self.max_bytes)
        return parse_object(raw)


def too_large(most: int | None = None) -> ApplicationError:
    limit = f"{most or settings.MAX_BODY_BYTES:,}"
    return ApplicationError(f"The body is larger than {limit} bytes.", code="too_large")


def parse_object(raw: bytes) -> dict[str, Any]:
    try:
        data = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise Invalid(f"The body is not valid JSON: {error.msg} ({place}).") from error
    if not isinstance(data, dict):
        raise Invalid("The body must be a JSON object.")
    if b"\\u0000" in raw or raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
        for name, value in data.items():
            for text in _texts({name: value}, field=name):
                if "\x00" in text:
                    raise Invalid.field(
                        name.replace("\x00", ""), "The text must not contain NUL characters."
                    )
    # A single object with exactly one colon per name repeats no name, so it isn't parsed twice.
    if raw.count(b"{") != 1 or raw.count(b":") != len(data):
        check_names(raw)
    return data


def check_names(raw: bytes) -> None:
    """Raise `Invalid` if an object in the JSON repeats a name.

    Parsers differ in which value of a repeated name they use. A proxy that checks the person's id
    could therefore see a different id than this server does. This function ignores malformed JSON,
    since the actual parser refuses it.
    """
    try:
        # Keep numbers as text, since Python refuses numbers of many thousand digits.
        json.loads(raw, object_pairs_hook=_refuse_repeated, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) == len(pairs):
        return
    seen: set[str] = set()
    for name, _value in pairs:
        if name in seen:
            raise Invalid.field(
                name.replace("\x00", ""), "This name stands twice in one object of the body."
            )
        seen.add(name)


def _texts(value: Any, *, field: str) -> Iterator[str]:
    """Yield every string inside the value, including the keys of objects.

    Raise `Invalid` if the value is nested too deeply. The function isn't recursive, so that depth
    can't exhaust the stack.
    """
    waiting = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise Invalid.field(field, f"It is nested more than {MAX_DEPTH} levels deep.")
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item
            waiting.extend((inner, depth + 1) for inner in item.values())
        elif isinstance(item, list):
            waiting.extend((inner, depth + 1) for inner in item)


class UploadParser(MultiPartParser):
    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return fields and files as one plain dict, as if they had come from JSON.

        Raise `ApplicationError` with the code `too_large` if the upload is over the limit.
        """
        request = (parser_context or {})["request"]
        if is_too_large(request.META.get("CONTENT_LENGTH")):
            limit = f"{settings.MAX_IMPORT_BYTES:,}"
            raise ApplicationError(f"The file is larger than {limit} bytes.", code="too_large")
        found = super().parse(stream, media_type, parser_context)
        return {**found.data.dict(), **found.files.dict()}


class TakesUploads:
    """A mixin for views that accept uploads; it closes the uploaded files after the handler."""

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        sent = getattr(request, "_full_data", None)
        for value in sent.values() if isinstance(sent, dict) else ():
            if isinstance(value, UploadedFile):
                value.close()
        return super().finalize_response(request, response, *args, **kwargs)  # type: ignore[misc]


def digest_of(value: Any) -> str:
    """Return a digest of an uploaded file, used to recognise a repeated request.

    Raise `TypeError` for any other value.
    """
    if not isinstance(value, UploadedFile):
        raise TypeError(type(value).__name__)
    digest = hashlib.sha256()
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
    return digest.hexdigest()


TAKES_FILES = ("/api/v1/memory/import", "/memory/data/import/")
_FORM_BYTES = 1 << 20  # upper bound for the other parts of a form


class PrivateUpload(FileUploadHandler):
    """Writes an upload to the data folder, since other users may read the temporary folder.

    An upload over the limit is read to its end and dropped, so the view finds no file. The view
    calls `is_too_large` to distinguish this from a request without a file.
    """

    chunk_size = 1 << 20

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        folder = Path(storages["parts"].path(""))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The file has no name, so the system deletes it however this process ends.
        self._raw = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - it outlives this call
        self._bytes = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        self._bytes += len(raw_data)
        if self._bytes > self._limit():
            self._raw.close()
            raise StopUpload(connection_reset=False)
        self._raw.write(raw_data)
        return None

    def file_complete(self, file_size: int) -> UploadedFile:  # type: ignore[type-arg] # not subscriptable at run time
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
    """Return whether the content length shows that an import is too large."""
    try:
        return int(content_length or 0) > settings.MAX_IMPORT_BYTES + _FORM_BYTES
    except ValueError:
        return False
