"""Text that users and their clients write beside memories: titles, names, labels, remarks.

An app puts its name on every memory, a new project reuses the name of a forgotten one, a title
repeats the text of a memory. Such text is the user's own, not derived from the content that a
forget erases.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from django.db.models import Q

from conversations.models import Conversation, Turn
from memcenter.lib.text.shingles import Resemblance
from memories.forgetting.erased_texts import ErasedTexts
from memories.models import Memory, Project
from ops.models import User
from ops.residue import string_values


def staying(
    *, user: User, texts: Sequence[str], leaving: ErasedTexts, conversations: Collection[int] = ()
) -> list[str]:
    """Return the surviving side texts that resemble `texts`; call it before anything is erased.

    All rows to be erased must be hidden already, except memories: a forget also hides memories that
    it shows again later. The titles of `conversations`, which lose messages, are excluded.
    """
    wanted = Resemblance(texts)
    if not wanted:
        return []
    kept = ~Q(pk__in=[*leaving.emptied, *leaving.renewed])
    written = _written(user.pk, memories=kept, conversations=~Q(pk__in=conversations))
    renewed = Memory.everything.filter(user=user, pk__in=set(leaving.renewed) - {*leaving.emptied})
    labels = renewed.order_by().values_list("metadata")
    return list(filter(wanted.held_by, (*written, *string_values.strings_in(list(labels)))))


def vouching(user_id: int, *, since: datetime | None) -> Iterator[str]:
    """Yield the texts written after the content being forgotten had become unreadable."""
    if since is None:
        return
    made, told = Q(created_at__gt=since), Q(user_message__recorded_at__gt=since)
    yield from _written(user_id, memories=made, turns=told, conversations=made, projects=made)
    # Only the turns since then: earlier turns lose the key of a forgotten project.
    yield from Turn.objects.filter(told, user=user_id).values_list("project_key", flat=True)


_ALL = Q()


def _written(
    user_id: int,
    *,
    memories: Q = _ALL,
    turns: Q = _ALL,
    conversations: Q = _ALL,
    projects: Q = _ALL,
) -> Iterator[str]:
    own = {"user": user_id}
    plain = {"tags": [], "data": {}, "metadata": {}, "feedback_reason": ""}
    marked = Memory.everything.filter(memories, **own).exclude(**plain)
    labelled = Turn.objects.filter(turns, **own).exclude(labels={}, tools=[])
    for rows in (
        marked.values_list(*plain),
        labelled.values_list("labels", "tools"),
        Conversation.objects.filter(conversations, **own).exclude(title="").values_list("title"),
        Project.objects.filter(projects, **own).values_list("key", "name", "path", "machines"),
    ):
        for row in rows.order_by().iterator(chunk_size=2_000):
            yield from filter(None, string_values.strings_in(row))
