"""What people and their clients write beside what is known: titles, names, labels, remarks.

An app puts its name beside every memory, a project begins anew under the name of a forgotten one,
a title says what a memory says. It is theirs, made from nothing that a forget takes away.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from django.db.models import Q

from conversations.models import Conversation, Turn
from memcenter.lib.shingles import Resemblance
from memories.models import Memory, Project
from memories.services.leaving import Leaving
from ops.models import User
from ops.services import leaves


def staying(
    *, user: User, texts: Sequence[str], leaving: Leaving, conversations: Collection[int] = ()
) -> list[str]:
    """What of it says as these texts do and stays, told before anything is erased.

    What goes must be hidden already, but for memories: a forget hides those too that it shows
    again. The titles of `conversations`, which lose messages, aren't among it.
    """
    wanted = Resemblance(texts)
    if not wanted:
        return []
    kept = ~Q(pk__in=[*leaving.emptied, *leaving.renewed])
    written = _written(user.pk, memories=kept, conversations=~Q(pk__in=conversations))
    renewed = Memory.everything.filter(user=user, pk__in=set(leaving.renewed) - {*leaving.emptied})
    labels = renewed.order_by().values_list("metadata")
    return list(filter(wanted.held_by, (*written, *leaves.of(list(labels)))))


def vouching(user_id: int, *, since: datetime | None) -> Iterator[str]:
    """What was written since: what is being forgotten couldn't be read any more."""
    if since is None:
        return
    made, told = Q(created_at__gt=since), Q(user_message__recorded_at__gt=since)
    yield from _written(user_id, memories=made, turns=told, conversations=made, projects=made)
    # Of the turns before, those that name a forgotten project will name it no longer.
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
            yield from filter(None, leaves.of(row))
