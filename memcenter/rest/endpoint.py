"""The declaration of an API endpoint: its scope, input and responses in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.serializers import Serializer

from memcenter.rest import openapi
from memcenter.rest.pagination import CursorPage
from ops.access import join_transaction
from ops.accounts.keys import Person
from ops.models import ApiKey, Scope, User, UserSettings

Handler = TypeVar("Handler", bound=Callable[..., Any])
# What to do if `user_id` is unknown: return 404; create the person; use an unsaved person (for data
# outside the database); or return an empty result (for lists and searches).
REFUSE, CREATE, PRETEND, EMPTY = "refuse", "create", "pretend", "empty"
_SCOPE_OF = {"get": Scope.READ, "delete": Scope.FORGET}


@dataclass(frozen=True)
class ParsedRequest:
    """A validated request whose person isn't known yet."""

    request: Request
    key: ApiKey | None
    ids: Mapping[str, str]
    data: Mapping[str, Any]
    page: CursorPage | None
    scope: str = ""

    @property
    def user_id(self) -> str | None:
        value = self.data.get("user_id")
        return value if isinstance(value, str) else None

    @property
    def person(self) -> Person | None:
        """The person who was loaded together with the key, or None."""
        return getattr(self.request, "person", None)

    @property
    def key_id(self) -> int | None:
        return self.key.pk if self.key else None

    @property
    def bound_user(self) -> User | None:
        return self.key.user if self.key else None

    @property
    def writes(self) -> bool:
        return self.request.method not in ("GET", "HEAD")


@dataclass(frozen=True)
class Call:
    """The argument of a handler: the person and the validated request.

    `ready` is the result of the endpoint's `prepare`. If an endpoint accepts an unknown person
    without creating them, as for temporary conversations, `user.pk` is None.
    """

    user: User
    parsed: ParsedRequest
    ready: Any = None

    @property
    def data(self) -> Mapping[str, Any]:
        return self.parsed.data

    @property
    def person(self) -> Person | None:
        """The person's data if it was loaded together with the key, or None."""
        person = self.parsed.person
        return person if person is not None and person.user is self.user else None

    @property
    def own(self) -> UserSettings | None:
        """The person's settings if they were loaded together with the key, or None."""
        return self.person.own if self.person else None

    def read_with_key(self, read: Callable[[User], Any]) -> Any:
        """Return the value of the endpoint's SQL expression `with_person` for the person.

        If the value wasn't loaded together with the key, call `read` to load it.
        """
        if self.person is not None:
            return self.person.extra
        with join_transaction(self.user):
            return read(self.user)

    @property
    def key_id(self) -> int | None:
        return self.parsed.key_id

    @property
    def page(self) -> CursorPage:
        if self.parsed.page is None:
            raise RuntimeError("the endpoint is not declared as paged")
        return self.parsed.page


@dataclass(frozen=True)
class Endpoint:
    """The declaration of one method of a view.

    `takes` validates the query of a GET, the body of other methods, and both for a DELETE. With
    `strict`, unknown fields are refused, because a misspelt field could change which rows are
    erased. `unknown_user` says how to treat an unknown `user_id`. `whose` determines the person of
    the call (by default `people.resolve_person`). `prepare` runs before the transaction, for model
    calls. If `prepares_within` returns true, `prepare` needs no network, and runs inside the
    transaction.

    `without_key` names a query parameter with a token; a call with this parameter needs no key.
    With `while_forgetting`, the endpoint also answers while all data of the person is being
    forgotten. `all_users_for` is the scope with which an unbound key may ask about all people. With
    `defers_writes`, the handler defers its writes, which run after the response has been sent.
    `adds` says that the call only inserts rows, so it doesn't take the person's lock. With `heavy`,
    the call counts towards the rate limit of expensive calls. `media` is the content type of the
    body. With `etag`, a GET may send `If-None-Match` (304 if the state is unchanged), and a write
    `If-Match` (412 if the state has changed). `with_person` is an SQL expression in which `u` is
    the person's row; its value is loaded together with the key and stored in `Call.person.extra`.
    """

    scope: str
    takes: type[Serializer[Any]] | None = None
    partial: bool = False
    strict: bool = False
    paged: bool = False
    unknown_user: Callable[[ParsedRequest], str] = lambda parsed: REFUSE
    whose: Callable[[ParsedRequest], User | None] | Callable[[ParsedRequest], None] | None = None
    prepare: Callable[[Call], Any] | None = None
    prepares_within: Callable[[], bool] = lambda: False
    idempotent: bool = True
    without_key: str | None = None
    while_forgetting: bool = False
    all_users_for: str | None = None
    defers_writes: bool = False
    adds: bool = False
    heavy: bool = False
    media: str = "application/json"
    etag: bool = False
    with_person: str = ""


def endpoint(
    *,
    summary: str,
    answers: Mapping[int, Any] | None = None,
    pages: type[Serializer[Any]] | None = None,
    scope: str | None = None,
    unknown_user: str | Callable[[ParsedRequest], str] = REFUSE,
    **options: Any,
) -> Callable[[Handler], Handler]:
    """Declare a method of a `MemcenterView`, and describe it in the OpenAPI schema.

    `answers` maps each status to the schema of its response. For a paginated list, `pages` is the
    schema of one item instead.
    """
    shapes = {200: openapi.page_of(pages)} if pages else answers or {}
    chosen = unknown_user if callable(unknown_user) else (lambda parsed: unknown_user)

    def declare(handler: Handler) -> Handler:
        method = handler.__name__
        declared = Endpoint(
            scope=scope or _SCOPE_OF.get(method, Scope.WRITE),
            unknown_user=chosen,
            paged=pages is not None,
            **options,
        )
        described: Handler = extend_schema(
            **openapi.describe(handler.__qualname__, method, declared, shapes, summary)
        )(handler)
        described.endpoint = declared  # type: ignore[attr-defined]
        return described

    return declare
