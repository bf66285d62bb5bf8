"""Index earlier texts of memories, so that a search for such a text finds the memory.

An earlier text is a replaced version of the memory, or a text of a related memory: a memory that it
superseded, a memory from the same turn, or, for an event, a memory on the same topic.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from foundation.database import statements
from foundation.text import tokens
from memories.models import Fragment, Kind, Memory, MemoryVersion, TargetKind
from ops.models import User

MOST = 5  # per memory; the oldest are kept, since later texts often say less
_FIRST = 1_000_000  # number of the first earlier text, above the fragment numbers of long texts


def index_earlier_text(
    memory: Memory, version: MemoryVersion, *, of: tuple[TargetKind, int]
) -> bool:
    """Index the text of a version, so that a search for that text finds the memory.

    Return whether the text was added. The version may belong to another memory. The words and the
    vector are copied from the index entries of the target `of` (kind and id). Safe to repeat.
    """
    if not version.content:
        return False
    known = list(Fragment.objects.filter(memory=memory, version__isnull=False))
    if len(known) >= MOST or any(earlier.version_id == version.pk for earlier in known):
        return False
    fragment = Fragment.objects.create(
        user_id=memory.user_id,
        memory=memory,
        version=version,
        number=max((earlier.number for earlier in known), default=_FIRST - 1) + 1,
        text=version.content,
        token_count=tokens.count(version.content),
    )
    kind, target = of
    statements.rows(_COPY, [fragment.pk, memory.user_id, str(kind), target] * 2)
    return True


_COPY = """
WITH words AS (
    INSERT INTO memories_lexicalentry
        (user_id, target_kind, target_id, conversation_id, terms, length)
    SELECT user_id, 'fragment', %s, conversation_id, terms, length FROM memories_lexicalentry
     WHERE user_id = %s AND target_kind = %s AND target_id = %s)
INSERT INTO memories_vector
    (space_id, user_id, target_kind, target_id, conversation_id, embedding)
SELECT space_id, user_id, 'fragment', %s, conversation_id, embedding FROM memories_vector
 WHERE user_id = %s AND target_kind = %s AND target_id = %s
"""


def share_earlier_texts(
    learned: Sequence[Memory], *, user: User, successors: Collection[tuple[int, int]] = ()
) -> None:
    """Let a search for an earlier text of a memory also find other memories from the same turn.

    Only memories on the same topic share their earlier texts. For example, "I quit Acme and joined
    Initech" becomes two memories. Only the first names the old job, but a question about it should
    also find the second, which is true now. Each pair of memory ids in `successors` (owner of the
    earlier text, other memory) shares texts regardless of topic. Safe to repeat.
    """
    if len(learned) < 2:
        return
    for event in learned:
        if event.kind == Kind.EVENT:
            # Let a search for the text of a known memory on the same topic also find the event. The
            # known memory that shares the most words with the event is chosen.
            own = [user.pk, event.pk]
            known = statements.rows(
                _ABOUT,
                [*own, user.pk, [memory.pk for memory in learned], event.project_id, event.tags],
            )
            for target, version in known:
                kept = MemoryVersion.objects.filter(pk=version).first()
                if kept is not None:
                    index_earlier_text(event, kept, of=(TargetKind.MEMORY, target))
    found = Fragment.objects.filter(
        user=user, memory__in=learned, version__isnull=False
    ).select_related("memory", "version")
    for fragment in found.order_by("pk"):
        for memory in learned:
            alike = not set(memory.tags).isdisjoint(fragment.memory.tags)
            alike = alike or (fragment.memory_id, memory.pk) in successors
            if alike and memory.pk != fragment.memory_id and fragment.version is not None:
                index_earlier_text(memory, fragment.version, of=(TargetKind.FRAGMENT, fragment.pk))


_ABOUT = """
WITH event AS (SELECT terms FROM memories_lexicalentry
                WHERE user_id = %s AND target_kind = 'memory' AND target_id = %s)
SELECT m.id, v.id FROM event CROSS JOIN memories_memory m
  JOIN memories_memoryversion v ON v.memory_id = m.id AND v.number = m.current_version
  JOIN memories_lexicalentry e
    ON e.user_id = m.user_id AND e.target_kind = 'memory' AND e.target_id = m.id
  JOIN LATERAL (SELECT count(DISTINCT one) AS words FROM unnest(e.terms) AS one
                 WHERE one = ANY(event.terms) AND length(one) > 1) AS shared ON shared.words > 0
 WHERE m.user_id = %s AND m.status = 'active' AND m.kind <> 'event'
   AND m.hidden_at IS NULL AND m.deleted_at IS NULL AND NOT m.id = ANY(%s::bigint[])
   AND m.project_id IS NOT DISTINCT FROM %s::bigint
   AND m.tags && %s::varchar[]
 ORDER BY shared.words DESC, m.id DESC
 LIMIT 1
"""
