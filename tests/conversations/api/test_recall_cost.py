"""What the hot paths cost in statements, and what nothing that is kept between calls may show."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.forgetting import memory_forgets
from memories.models import Memory
from memories.writing import curation
from ops.accounts import keys, users
from ops.models import User
from tests.factories import make_conversation, make_memory, make_message, make_summary
from tests.memcenter.rest.client import Api, answer

pytestmark = pytest.mark.django_db
ASK = {"message": "What do I like to drink in the morning?"}
# The test's own transaction makes a savepoint of each of ours: setting and forgetting the person
# and both ends cost four. There are two: the bundled embedder works within the one that answers,
# and what explains the answer is written after it in another.
TRANSACTIONS = 8


@pytest.fixture(autouse=True)
def a_minute_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a slow machine notes within a test once more that the key is used."""
    monkeypatch.setattr(keys, "_LAST_USE_GRAIN", timedelta(days=1))


def cost(api: Api, path: str, query: str = "", **body: object) -> int:
    with CaptureQueriesContext(connection) as caught:
        answer(api.post(path, {**ASK, **body}) if not query else api.get(f"{path}?{query}"))
    return len(caught)


@pytest.fixture
def drinks(alice: User) -> list[Memory]:
    return [make_memory(alice, f"Likes drink number {number}") for number in range(40)]


def test_a_context_takes_six_statements_however_much_is_remembered(
    alice: User, alice_key: str
) -> None:
    """Key (with person, switches, speakers), notes, words and vectors, pieces, rows, trace."""
    make_memory(alice, "Likes green tea in the morning", kind="preference")
    api = Api(alice_key)
    cost(api, "/memory/context")  # notes that the key is used
    few = cost(api, "/memory/context")
    for number in range(40):
        make_memory(alice, f"Likes to drink tea number {number}", kind="constraint")
    assert few == cost(api, "/memory/context") == 6 + TRANSACTIONS


def test_a_conversation_adds_its_row_window_summary_and_episodes(
    alice: User, alice_key: str
) -> None:
    row = make_conversation(alice, external_id="c1")
    make_message(row, "Hello.")
    make_memory(alice, "Likes green tea in the morning")
    api = Api(alice_key)
    cost(api, "/memory/context")
    few = cost(api, "/memory/context", conversation_id="c1")
    for number in range(10):
        make_message(row, f"Remark {number}.")
    make_summary(row, "They greeted each other.", through=1)
    assert few == cost(api, "/memory/context", conversation_id="c1") == 6 + 4 + TRANSACTIONS


def test_a_search_of_memories_takes_five_statements(
    alice: User, alice_key: str, drinks: list[Memory]
) -> None:
    api = Api(alice_key)
    cost(api, "/memory/context")
    assert cost(api, "/search", "query=drink&types=memory") == 5 + TRANSACTIONS


@pytest.mark.parametrize("gone", ["disable", "recycle", "forget", "switch off"])
def test_what_has_gone_is_gone_with_the_next_call(alice: User, alice_key: str, gone: str) -> None:
    """Statements are prepared and rows are not kept, so nothing is left to be shown."""
    memory = make_memory(alice, "Likes green tea in the morning", kind="preference")
    api = Api(alice_key)
    for _ in range(6):  # by now every statement is planned
        assert "green tea" in answer(api.post("/memory/context", ASK))["block"]
    if gone == "forget":
        memory_forgets.forget_memories(user=alice, memories=[memory])
    elif gone == "switch off":
        users.change_settings(user=alice, changes={"longterm_enabled": False})
    else:
        getattr(curation, gone)(user=alice, memory=memory)
    assert answer(api.post("/memory/context", ASK))["block"] == ""


def test_what_was_edited_is_shown_as_it_reads_now(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Likes green tea in the morning", kind="preference")
    api = Api(alice_key)
    for _ in range(6):
        answer(api.post("/memory/context", ASK))
    Memory.objects.filter(pk=memory.pk).update(content="Likes black tea in the morning")
    assert "black tea" in answer(api.post("/memory/context", ASK))["block"]


def test_one_connection_serves_two_people_without_mixing_them(
    alice: User, mallory: User, alice_key: str, mallory_key: str
) -> None:
    make_memory(alice, "Likes green tea in the morning", kind="preference")
    make_memory(mallory, "Likes strong coffee in the morning", kind="preference")
    for _ in range(6):
        assert "tea" in answer(Api(alice_key).post("/memory/context", ASK))["block"]
        theirs = answer(Api(mallory_key).post("/memory/context", ASK))["block"]
        assert "coffee" in theirs and "tea" not in theirs
