"""`Idempotency-Key`: a repeated write gets the stored response to the first write."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import orjson
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from rest_framework.response import Response

from foundation.errors import Conflict, Invalid
from memcenter.rest.endpoint import ParsedRequest
from memcenter.rest.parsers import digest_of
from memcenter.rest.responses import render_json
from ops.access import as_system
from ops.models import ApiKey, IdempotencyRecord, User

HEADER = "Idempotency-Key"
MAX_LENGTH = 200


class UnstoredResponse(Response):
    """A response that isn't stored for repeated calls, since it must not get into the database.

    Examples are secrets that are shown only once, and data of temporary conversations, which are
    kept only in Redis.
    """


class IdempotentCall:
    """One write with an idempotency key.

    The record of the response is written in the handler's transaction, under an advisory lock held
    by that transaction. The write and its record are therefore committed together, and a process
    that dies leaves neither a record nor a lock.
    """

    def __init__(self, *, api_key: ApiKey, key: str, fingerprint: str) -> None:
        self._api_key = api_key
        self._key = key
        self._fingerprint = fingerprint

    def replay(self) -> Response | None:
        """Return the stored response, or None if the key is new or its record has expired.

        Raise `Conflict` if the response has been erased, or the key was used for another request.
        """
        with as_system():
            record = self._rows().first()
            if record is not None and record.expires_at <= timezone.now():
                record.delete()
                record = None
        return None if record is None else self._replayed_response(record)

    def begin(self) -> None:
        """Lock the key until the transaction ends.

        Raise `Conflict` if a concurrent call with the same key holds the lock.
        """
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))",
                [f"idempotency:{self._api_key.pk}:{self._key}"],
            )
            if not cursor.fetchone()[0]:
                raise Conflict("The first call with this Idempotency-Key is still running.")

    def answered_meanwhile(self) -> Response | None:
        record = self._rows().first()
        return None if record is None else self._replayed_response(record)

    def keep(self, response: Response, *, user: User | None) -> None:
        """Store the response if it is a success and not an `UnstoredResponse`.

        After an error, the same key may be used again. Raise `Conflict` if the key has already been
        used for another person.
        """
        if isinstance(response, UnstoredResponse) or not 200 <= response.status_code < 300:
            return
        try:
            with transaction.atomic():
                IdempotencyRecord.objects.create(
                    user=user,
                    api_key=self._api_key,
                    key=self._key,
                    fingerprint=self._fingerprint,
                    status_code=response.status_code,
                    body=orjson.loads(render_json(response.data)),
                    expires_at=timezone.now() + timedelta(hours=settings.IDEMPOTENCY_HOURS),
                )
        except IntegrityError as error:  # a record of another person, whose rows aren't visible
            raise Conflict("This Idempotency-Key was used for another request.") from error

    def _rows(self) -> Any:
        return IdempotencyRecord.objects.filter(api_key=self._api_key, key=self._key)

    def _replayed_response(self, record: IdempotencyRecord) -> Response:
        if record.fingerprint != self._fingerprint:
            raise Conflict("This Idempotency-Key was used for another request.")
        if record.body_erased or record.status_code is None:
            raise Conflict("The answer stored for this Idempotency-Key has been forgotten.")
        return Response(
            record.body, status=record.status_code, headers={"Idempotency-Replayed": "true"}
        )


def read(parsed: ParsedRequest) -> IdempotentCall | None:
    """Return the `IdempotentCall` of a write with an idempotency key, or None for other requests.

    Raise `Invalid` if the key is empty, too long or not printable.
    """
    key = parsed.request.headers.get(HEADER)
    if key is None or parsed.key is None or not parsed.writes:
        return None
    if not 1 <= len(key) <= MAX_LENGTH or not key.isprintable():
        raise Invalid.field(HEADER, f"Must be 1 to {MAX_LENGTH} printable characters.")
    return IdempotentCall(api_key=parsed.key, key=key, fingerprint=_fingerprint(parsed))


def _fingerprint(parsed: ParsedRequest) -> str:
    request = parsed.request
    parts = [
        request.method,
        request.path.rstrip("/"),
        sorted(request.query_params.lists()),
        request.data if isinstance(request.data, dict) else None,
    ]
    return hashlib.sha256(
        orjson.dumps(parts, default=digest_of, option=orjson.OPT_SORT_KEYS)
    ).hexdigest()
