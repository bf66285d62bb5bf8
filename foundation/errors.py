"""Exceptions raised by services, independent of HTTP; `memcenter.rest.responses` renders them."""

from collections.abc import Mapping, Sequence


class ApplicationError(Exception):
    """An error that the caller can understand and react to.

    `code` is the error code in the API; `fields` maps the caller's field names to their problems.
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
    """The input is invalid. `fields` names the invalid fields."""

    code = "invalid"

    @classmethod
    def field(cls, name: str, message: str) -> "Invalid":
        return cls(message, fields={name: [message]})


class NotFound(ApplicationError):
    """The object doesn't exist, or belongs to another person; the caller can't tell which."""

    code = "not_found"


class Conflict(ApplicationError):
    """The request conflicts with the current state of the data.

    Examples: memory is switched off (`memory_off`), the person is being forgotten
    (`being_forgotten`), or the caller's version of an object is outdated.
    """

    code = "conflict"


class Stale(Conflict):
    """The caller refers to an outdated version of an object."""


class NotAllowed(ApplicationError):
    """The caller is authenticated but not allowed to do this."""

    code = "not_allowed"


class TryAgain(ApplicationError):
    """An operation hit a temporary problem, and will be retried after a delay."""

    code = "try_again"


class ProviderError(Exception):
    """A model or embedder failed. The message never contains the text sent to it.

    `retryable` says whether the same call may succeed later. `uses_up` says whether the failure
    counts towards the operation's maximum number of attempts. An invalid answer counts; a server
    that is down doesn't.
    """

    uses_up = False

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.retryable = retryable
