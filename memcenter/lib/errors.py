"""What services raise. They know nothing of HTTP; `memcenter.rest.exceptions` renders these."""

from collections.abc import Mapping, Sequence


class ApplicationError(Exception):
    """Something the caller can understand and act on.

    `code` is the word of the API contract, `fields` maps the names of the caller's fields to
    what is wrong with each.
    """

    code = "invalid"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        fields: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.fields = {name: list(texts) for name, texts in (fields or {}).items()}


class Invalid(ApplicationError):
    """The input is wrong; `fields` names where."""

    code = "invalid"

    @classmethod
    def field(cls, name: str, message: str) -> "Invalid":
        return cls(message, fields={name: [message]})


class NotFound(ApplicationError):
    """It isn't there, or it is somebody else's: the caller can't tell which."""

    code = "not_found"


class Conflict(ApplicationError):
    """It can't be done in the present state (`memory_off`, `being_forgotten`, a stale version)."""

    code = "conflict"


class Stale(Conflict):
    """The caller speaks of a state that is no longer the present one."""


class NotAllowed(ApplicationError):
    """The caller is known and may not do this."""

    code = "not_allowed"


class ProviderError(Exception):
    """A model or embedder failed. The message never holds the text that was sent.

    `uses_up`: the try was worth one of the operation's attempts. A server that is down is waited
    for instead; one that answers nonsense is not asked for ever.
    """

    uses_up = False

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.retryable = retryable
