"""Run one tool call: authenticate, authorise, find the owner, then call the service in one
transaction.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from django.db import close_old_connections
from pydantic import BaseModel
from rest_framework.exceptions import Throttled
from rest_framework.request import Request

from memcenter.lib.errors import ApplicationError, NotAllowed, ProviderError
from memcenter.mcp.tools import Declared
from memcenter.rest.endpoint import Asked, Call
from memcenter.rest.requests import people, throttling
from ops.access import as_user
from ops.accounts import keys
from ops.audit import acting_user
from ops.models import ApiKey

logger = logging.getLogger(__name__)
SURFACE = "mcp"


class Trouble(Exception):
    """An error in the shape and words of the REST API's errors."""

    def __init__(
        self, code: str, message: str, fields: Mapping[str, list[str]] | None = None
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.fields = code, message, dict(fields or {})


@dataclass(frozen=True)
class Called(Asked):
    """Stands for the HTTP request in permission checks; it says whether the tool writes."""

    writing: bool = False

    @property
    def writes(self) -> bool:
        return self.writing


def key_of(text: str) -> ApiKey | None:
    """Return the valid key of this text, with the user that it is bound to."""
    key = keys.authenticate(text)
    return None if key is None or (key.user is not None and not key.user.is_active) else key


def perform(tool: Declared, given: BaseModel, key: ApiKey) -> BaseModel:
    """Run the tool in one transaction, on one of our own threads.

    Raises only `Trouble`, since the SDK quotes other errors in its answers.
    """
    close_old_connections()
    try:
        with acting_user.acting(f"key {key.pk}", SURFACE):
            return _perform(tool, given, key)
    except Trouble:
        raise
    except ApplicationError as error:
        raise Trouble(error.code, error.message, error.fields) from None
    except Throttled:
        wait = f"Too many calls; try again in {throttling.seconds_left()} seconds."
        raise Trouble("rate_limited", wait) from None
    except ProviderError:
        raise Trouble("unavailable", "The model can't be reached; try again.") from None
    except Exception as error:
        _log(tool, error)
        raise Trouble("unavailable", "Something went wrong on our side; try again.") from None
    finally:
        close_old_connections()


def _perform(tool: Declared, given: BaseModel, key: ApiKey) -> BaseModel:
    if tool.scope not in key.scopes:
        raise NotAllowed(f"This key lacks the scope “{tool.scope}”.")
    throttling.count_key(key)
    data = given.model_dump(by_alias=True, exclude_none=True)
    asked = Called(cast(Request, None), key, {}, data, None, tool.scope, writing=tool.writes)
    user = people.whose_owner(asked)
    throttling.count_person(key, user, scope=tool.scope)
    ready = tool.prepare(data) if tool.prepare else None
    with as_user(user, changing=tool.writes):
        return tool.act(Call(user=user, asked=asked, ready=ready))


def _log(tool: Declared, error: Exception) -> None:
    """Log only the exception class and lines of code; the message may quote people's texts."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    logger.error("tool %s failed with %s\n%s", tool.name, type(error).__name__, frames)
