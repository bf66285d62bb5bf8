"""What the tests of the Memory Center's pages share."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from memories.models import Memory, MemoryStatus
from ops.models import User
from tests.factories import make_memory


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def address(name: str, *args: object, **query: str) -> str:
    return reverse(name, args=args, query=query or None)


def htmx(target: str, *, at: str = "/memory/long-term/") -> dict[str, str]:
    """The headers of a request that will replace the element with this id."""
    shown = f"http://testserver{at}"
    return {"HX-Request": "true", "HX-Target": target, "HX-Current-URL": shown}


def queries_of(user: User, url: str) -> int:
    """How many queries a page takes."""
    client = signed_in(user)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200
    return len(queries)


def text_of(response: HttpResponse | Any) -> str:
    return str(response.content.decode())


def make_candidate(user: User, content: str, *, against: Memory | None = None) -> Memory:
    return make_memory(user, content, status=MemoryStatus.CANDIDATE, conflicts_with=against)


def make_binned(user: User, content: str) -> Memory:
    now = timezone.now()
    return make_memory(user, content, deleted_at=now, purge_at=now + timedelta(days=7))
