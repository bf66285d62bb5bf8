"""Ids that contain the data they identify, signed for one user, so that nothing is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core import signing

from foundation.errors import Invalid
from ops.models import User

_SECONDS = 24 * 3600  # validity of an id


@dataclass(frozen=True)
class SignedIds:
    """A type of signed id, recognized by its prefix."""

    prefix: str
    salt: str

    def make(self, data: Mapping[str, Any], *, user: User) -> str:
        """Return an id that contains `data`, whose values must be valid JSON."""
        payload = {"user": str(user.subject), **data}
        return self.prefix + signing.dumps(payload, salt=self.salt, compress=True)

    def verified(
        self, id: object, *, user: User, refusal: Callable[[str], Invalid]
    ) -> dict[str, Any]:
        """Return the data that an id contains.

        If the signature is invalid, the id is older than a day or the id belongs to another user,
        call `refusal` with an error message and raise the error that `refusal` returns.
        """
        try:
            if not isinstance(id, str) or not id.startswith(self.prefix):
                raise signing.BadSignature
            data: dict[str, Any] = signing.loads(
                id.removeprefix(self.prefix), salt=self.salt, max_age=_SECONDS
            )
        except signing.BadSignature as error:
            raise refusal("This id is not one of ours, or older than a day.") from error
        if data.pop("user") != str(user.subject):
            raise refusal("This candidate is somebody else’s.")
        return data
