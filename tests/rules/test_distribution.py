"""What a database divided by people (Citus) needs: keys and statements that name the person.

A table that is new has to be named here. `docs/scaling.md` tells how the exceptions are dealt with.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from ops.models import User
from tests.factories import make_conversation, make_episode, make_memory, make_summary, make_turn
from tests.memcenter.rest.client import Api, answer

pytestmark = pytest.mark.django_db

_NUMBERED = "Numbers come from one sequence; on Citus the primary key becomes (user_id, id)."
_FOUND_BY_NAME = "Random text of 128 bits or more, so it is unique without an index over everybody."
_UNDER_ITS_PARENT = "Counts under a parent row of the same person; on Citus with user_id in front."
_SAME_PERSON = (
    "One service writes both rows for one person, and row security hides all others from it; on"
    " Citus the key becomes (user_id, column)."
)
_QUEUE = "The queue is no personal table and stays on one node; on Citus without this key."
_REFERENCE = "Its target is a small table that each node has a copy of."
_WHO_IS_WHO = "Tells who somebody is before the person is known; this table isn't divided."

# Personal tables whose rows are found before the person is known: they stay on one node.
UNDIVIDED = {
    "ops_user": _WHO_IS_WHO,
    "ops_usersettings": _WHO_IS_WHO,
    "ops_apikey": _WHO_IS_WHO,
    "ops_signinlink": _WHO_IS_WHO,
    "ops_invitation": _WHO_IS_WHO,
    "ops_signin": _WHO_IS_WHO,
    "ops_secondfactor": _WHO_IS_WHO,
    "ops_identity": _WHO_IS_WHO,
    "ops_weeklymail": _WHO_IS_WHO,
    "ops_idempotencyrecord": "Belongs to a key and lives for a day.",
    "ops_webhook": "Belongs to a key, and deliveries of all people are claimed together.",
    "ops_export": "Belongs to an operation of the queue.",
    "ops_import": "Belongs to an operation of the queue.",
}
DIVIDED = {
    "conversations_conversation",
    "conversations_message",
    "conversations_turn",
    "conversations_summary",
    "conversations_episode",
    "conversations_feedback",
    "memories_project",
    "memories_memory",
    "memories_memoryversion",
    "memories_versioninput",
    "memories_portraitphrase",
    "memories_fragment",
    "memories_arbitration",
    "memories_memoryfile",
    "memories_fileversion",
    "memories_dailynote",
    "memories_relation",
    "memories_source",
    "memories_refusal",
    "memories_tombstone",
    "memories_recalltrace",
    "memories_recallhit",
    "memories_vector",
    "memories_lexicalentry",
}
# Unique without the person.
UNIQUE = {
    **{
        f"{table} (public_id)": _FOUND_BY_NAME
        for table in (
            "conversations_conversation",
            "conversations_message",
            "conversations_turn",
            "conversations_summary",
            "conversations_episode",
            "memories_memory",
            "memories_dailynote",
        )
    },
    "memories_recalltrace (request_id)": _FOUND_BY_NAME,
    **dict.fromkeys(
        (
            "conversations_message (conversation_id, number)",
            "conversations_message (conversation_id, external_id)",
            "conversations_turn (user_message_id)",
            "conversations_turn (assistant_message_id)",
            "conversations_summary (conversation_id, version)",
            "conversations_episode (turn_id)",
            "conversations_feedback (message_id)",
            "memories_memoryversion (memory_id, number)",
            "memories_versioninput (output_id, input_id)",
            "memories_portraitphrase (version_id)",
            "memories_fragment (memory_id, number)",
            "memories_fileversion (file_id, number)",
            "memories_relation (memory_id, other_id, kind)",
            "memories_recallhit (trace_id, rank)",
        ),
        _UNDER_ITS_PARENT,
    ),
}
# Keys to other tables without the person.
KEYS = {
    **dict.fromkeys(
        (
            "conversations_message (conversation_id)",
            "conversations_turn (conversation_id)",
            "conversations_turn (user_message_id)",
            "conversations_turn (assistant_message_id)",
            "conversations_summary (conversation_id)",
            "conversations_episode (conversation_id)",
            "conversations_episode (turn_id)",
            "conversations_feedback (message_id)",
            "memories_memory (project_id)",
            "memories_memory (superseded_by_id)",
            "memories_memory (conflicts_with_id)",
            "memories_memoryversion (memory_id)",
            "memories_versioninput (output_id)",
            "memories_versioninput (input_id)",
            "memories_portraitphrase (version_id)",
            "memories_fragment (memory_id)",
            "memories_fragment (version_id)",
            "memories_arbitration (turn_id)",
            "memories_arbitration (memory_id)",
            "memories_arbitration (target_id)",
            "memories_fileversion (file_id)",
            "memories_dailynote (file_id)",
            "memories_relation (memory_id)",
            "memories_relation (other_id)",
            "memories_source (memory_id)",
            "memories_source (version_id)",
            "memories_source (turn_id)",
            "memories_source (message_id)",
            "memories_refusal (turn_id)",
            "memories_recalltrace (conversation_id)",
            "memories_recalltrace (answer_id)",
            "memories_recallhit (trace_id)",
            "memories_vector (conversation_id)",
            "memories_lexicalentry (conversation_id)",
        ),
        _SAME_PERSON,
    ),
    "memories_vector (space_id)": _REFERENCE,
}
_CONSTRAINTS = """
SELECT t.relname, 'p', ARRAY(SELECT a.attname::text FROM pg_attribute a
         WHERE a.attrelid = t.oid AND a.attnum = ANY(i.indkey)
         ORDER BY array_position(i.indkey::int[], a.attnum::int)), i.indisprimary
  FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid WHERE i.indisunique
UNION ALL
SELECT t.relname, 'f', ARRAY(SELECT a.attname::text FROM pg_attribute a
         WHERE a.attrelid = t.oid AND a.attnum = ANY(c.conkey)), false
  FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid WHERE c.contype = 'f'
"""


def without_the_person(kind: str) -> set[str]:
    """The constraints of divided tables, as `table (columns)`, that don't contain the person."""
    with connection.cursor() as cursor:
        cursor.execute(_CONSTRAINTS)
        found = cursor.fetchall()
    return {
        f"{table} ({', '.join(columns)})"
        for table, of, columns, primary in found
        if table in DIVIDED and "user_id" not in columns
        if kind == ("primary" if primary else "unique" if of == "p" else "key")
    }


def test_every_personal_table_is_divided_by_people_or_has_a_reason() -> None:
    personal = {
        model._meta.db_table
        for model in apps.get_models()
        if getattr(model, "personal_data", False) and model._meta.managed
    }
    assert personal == DIVIDED | UNDIVIDED.keys()
    assert not DIVIDED & UNDIVIDED.keys()


def test_every_divided_table_has_the_person_in_each_row() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name FROM information_schema.columns"
            " WHERE column_name = 'user_id' AND is_nullable = 'NO'"
        )
        assert {name for (name,) in cursor.fetchall()} >= DIVIDED


def test_every_primary_key_is_a_number_that_gets_the_person_in_front() -> None:
    assert without_the_person("primary") == {f"{table} (id)" for table in DIVIDED}, _NUMBERED


def test_every_unique_constraint_contains_the_person_or_has_a_reason() -> None:
    assert without_the_person("unique") == UNIQUE.keys()


def test_every_key_to_another_table_contains_the_person_or_has_a_reason() -> None:
    assert without_the_person("key") == KEYS.keys()


_TABLE = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO)\s+\"?(\w+)", re.IGNORECASE)
_PERSON = re.compile(r'user_id"?\s*=|INTO\s+"?\w+"?\s*\([^)]*\buser_id\b', re.IGNORECASE)


def nameless(statements: list[str]) -> list[str]:
    return [
        text
        for text in statements
        if DIVIDED & set(_TABLE.findall(text)) and not _PERSON.search(text)
    ]


def test_every_statement_of_a_call_names_the_person(alice: User, alice_key: str) -> None:
    row = make_conversation(alice, external_id="c1")
    turn = make_turn(row, "I play chess with Ada.", "Chess is nice.")
    make_episode(turn)
    make_summary(row, "They spoke about chess.", through=2)
    make_memory(alice, "Plays chess with Ada.", turns=[turn])
    api = Api(alice_key)
    seen: list[str] = []

    def record(execute: Any, text: str, *given: Any) -> Any:
        seen.append(str(text))
        return execute(text, *given)

    with connection.execute_wrapper(record):
        answer(api.get("/search", query="Chess with whom?"))
        answer(api.post("/memory/context", {"message": "Chess?", "conversation_id": "c1"}))
        said = {"user_message": "I like chess.", "assistant_message": "Nice."}
        answer(api.post("/turns", {**said, "conversation_id": "c1"}), 201)
        answer(api.post("/memory/long_term", {"content": "Likes chess in Leeds"}), 201)
        answer(api.get("/memory/long_term"))
    assert any(DIVIDED & set(_TABLE.findall(text)) for text in seen)
    assert "\n".join(nameless(seen)) == ""
