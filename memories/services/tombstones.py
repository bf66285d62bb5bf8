"""What keeps a forgotten statement from being learned again from the same messages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from django.utils.crypto import salted_hmac

from memcenter.lib import segment, shingles, statements
from memories.models import MemoryVersion, Source, Tombstone
from ops.models import User

_SALT = "memories.tombstone"


def tombstone_key(text: str) -> str:
    """A hash under the instance's secret: tells the same text again and says nothing of it."""
    return _keyed(shingles.normalise(text))


def about_key(text: str) -> str:
    """Like `tombstone_key`, of the words that count, in any order."""
    return _keyed(" ".join(sorted(set(segment.terms(text)))))


def is_forgotten(*, user: User, text: str, message_ids: Collection[str]) -> bool:
    """Whether this statement was forgotten and comes from the very messages it came from then."""
    return bool(
        statements.rows(
            "SELECT 1 FROM memories_tombstone WHERE user_id = %s"
            " AND (text_hash = %s OR about_hash = %s) AND message_ids && %s::varchar[] LIMIT 1",
            [user.pk, tombstone_key(text), about_key(text), list(message_ids)],
        )
    )


def leave(*, user: User, version_ids: Sequence[int]) -> int:
    """Leave one for each text of these versions; give how many."""
    versions = MemoryVersion.everything.filter(user=user, pk__in=version_ids)
    messages = _messages_of(user, version_ids)
    fields = "pk", "memory__public_id", "content", "candidate_text"
    found = {
        (memory, text): messages[pk]
        for pk, memory, *texts in versions.values_list(*fields)
        for text in filter(None, texts)
    }
    Tombstone.objects.bulk_create(
        Tombstone(
            user=user,
            memory_public_id=memory,
            text_hash=tombstone_key(text),
            about_hash=about_key(text),
            message_ids=sorted(ids),
        )
        for (memory, text), ids in found.items()
    )
    return len(found)


def _messages_of(user: User, version_ids: Sequence[int]) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {pk: set() for pk in version_ids}
    sources = Source.everything.filter(user=user, version__in=version_ids).values_list(
        "version",
        "message__public_id",
        "turn__user_message__public_id",
        "turn__assistant_message__public_id",
        "reference",
    )
    for version, *ids in sources:
        found[version].update(_given(ids))
    return found


def _given(ids: Iterable[str | None]) -> Iterable[str]:
    """Of a reference the id of a note: it is as good a source as a message."""
    return (one for one in ids if one and one.startswith(("msg_", "note_")))


def _keyed(text: str) -> str:
    return salted_hmac(_SALT, text, algorithm="sha256").hexdigest()
