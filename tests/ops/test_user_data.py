from datetime import timedelta

import orjson
import pytest
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from conversations.models import Feedback, Rating
from memories.models import Arbitration, Relation, RelationKind
from ops import registry
from ops.accounts import keys
from ops.models import IdempotencyRecord, SignInLink, User
from ops.registry import UserData
from tests.factories import make_conversation, make_memory, make_trace, make_turn
from tests.rows import rows_of

pytestmark = pytest.mark.django_db

ALL = {one.name: one for one in registry.user_data_kinds()}


def exported(user: User) -> str:
    rows = {name: list(one.export(user)) for name, one in ALL.items()}
    return DjangoJSONEncoder().encode(rows)


def test_an_export_of_each_kind_is_json_and_holds_what_was_said(alice: User) -> None:
    turn = make_turn(make_conversation(alice), "I drink green tea")
    make_memory(alice, "Alice drinks green tea", turns=[turn])
    make_trace(alice, "what does she drink?", conversation=turn.conversation)
    found = orjson.loads(exported(alice))
    assert [row["content"] for row in found["message"]] == ["I drink green tea", "I see."]
    assert found["memory"][0]["content"] == "Alice drinks green tea"
    assert found["memoryversion"][0]["number"] == 1
    assert found["source"][0]["quote"] == "I drink green tea"
    assert found["recalltrace"][0]["query"] == "what does she drink?"
    assert found["account"][0]["external_id"] == "alice"


def test_an_export_holds_nothing_of_others(alice: User, mallory: User) -> None:
    make_memory(mallory, "Mallory drinks coffee")
    assert "coffee" not in exported(alice) and "mallory" not in exported(alice)


def test_an_export_holds_no_secrets(alice: User) -> None:
    key, text = keys.create(name="own", scopes=["read"], user=alice)
    later = timezone.now() + timedelta(days=1)
    SignInLink.objects.create(user=alice, digest="secret-link", expires_at=later)
    IdempotencyRecord.objects.create(
        user=alice, api_key=key, key="k", fingerprint="f", body={"a": "answer"}, expires_at=later
    )
    found = exported(alice)
    for secret in (text, key.digest, "secret-link", "answer", alice.password):
        assert secret not in found


def test_what_belongs_to_something_hidden_is_not_exported(alice: User) -> None:
    turn = make_turn(make_conversation(alice), "I drink green tea")
    memory = make_memory(alice, "Alice drinks green tea", turns=[turn])
    other = make_memory(alice, "Plays chess")
    Feedback.objects.create(
        user=alice, message=turn.user_message, rating=Rating.POSITIVE, comment="green"
    )
    Relation.objects.create(user=alice, memory=other, other=memory, kind=RelationKind.SUPPORTS)
    Arbitration.objects.create(
        user=alice, memory=other, target=memory, verdict="ADD", target_text="green", decided_by="x"
    )
    assert (ALL["feedback"].count(alice), ALL["relation"].count(alice)) == (1, 1)
    now = timezone.now()
    for row in (turn.user_message, memory):
        type(row)._base_manager.filter(pk=row.pk).update(hidden_at=now)
    for name in ("feedback", "relation", "arbitration"):
        assert ALL[name].count(alice) == 0
        assert list(ALL[name].export(alice)) == []


@pytest.mark.parametrize("participant", ALL.values(), ids=ALL)
def test_erasing_twice_and_for_nobody_is_harmless(
    participant: UserData, alice: User, mallory: User
) -> None:
    before = rows_of(mallory)
    participant.erase(alice.pk)
    participant.erase(alice.pk)
    participant.erase(0)
    assert rows_of(mallory) == before
