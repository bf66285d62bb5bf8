"""How many statements reading takes: the same however much there is, and no more than it did."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.files import daily_notes
from ops.access import as_user
from ops.models import User
from tests.factories import make_conversation, make_episode, make_memory, make_summary, make_turn
from tests.memcenter.rest.client import Api, answer

pytestmark = pytest.mark.django_db
ALL = {"memory", "message", "episode", "summary", "note"}
# The key with the person, the switches and the speakers; five types with two statements each, one
# for pieces of long memories, the turns of the messages, the trace; six for two transactions.
_SEARCH, _CONTEXT = 22, 14


def learn(user: User, name: str) -> None:
    row = make_conversation(user)
    turn = make_turn(row, f"I play chess with {name}.", "Chess is nice.")
    make_episode(turn)
    make_summary(row, f"They spoke about chess with {name}.", through=2)
    make_memory(user, f"Plays chess with {name}.", turns=[turn])
    make_memory(user, f"Must never play chess at {name}'s.", kind="constraint")
    with as_user(user):
        daily_notes.append(f"Chess with {name} went well.", user=user)


def taken(key: str, path: str) -> int:
    api = Api(key)
    with CaptureQueriesContext(connection) as queries:
        if path == "search":
            found = answer(api.get("/search", query="Chess with whom?", limit=50))["results"]
            assert {one["type"] for one in found} == ALL
        else:
            asked = {"message": "Whom do I play chess with?"}
            assert answer(api.post("/memory/context", asked))["items"]
    return len(queries)


@pytest.mark.parametrize(("path", "most"), [("search", _SEARCH), ("context", _CONTEXT)])
def test_reading_takes_the_same_statements_however_much_there_is(
    alice: User, alice_key: str, path: str, most: int
) -> None:
    learn(alice, "Ada")
    taken(alice_key, path)  # what a process reads once
    few = taken(alice_key, path)
    for name in ("Ben", "Carla", "Dora", "Emil"):
        learn(alice, name)
    many = taken(alice_key, path)
    assert many <= few <= most
