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
from ops.models import User
from ops.services import leaves


def staying(
    *,
    user: User,
    texts: Sequence[str],
    without: Collection[int] = (),
    conversation: int | None = None,
) -> list[str]:
    """What of it says as these texts do and stays, told before anything is erased.

    What goes must be hidden already. Left out are the memories in `without`, for deriving empties
    what is beside them, and the title of the `conversation` that loses messages.
    """
    wanted = Resemblance(texts)
    if not wanted:
        return []
    written = _written(user.pk, memories=~Q(pk__in=without), conversations=~Q(pk=conversation or 0))
    return list(filter(wanted.held_by, written))


def since(user_id: int, moment: datetime) -> Iterator[str]:
    """What was written after a moment."""
    made = Q(created_at__gt=moment)
    told = Q(user_message__recorded_at__gt=moment)
    return _written(user_id, memories=made, turns=told, conversations=made, projects=made)


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
    marked = Memory.objects.filter(memories, **own).exclude(**plain)
    labelled = Turn.objects.filter(turns, **own).exclude(project_key="", labels={}, tools=[])
    for rows in (
        marked.values_list(*plain),
        labelled.values_list("project_key", "labels", "tools"),
        Conversation.objects.filter(conversations, **own).exclude(title="").values_list("title"),
        Project.objects.filter(projects, **own).values_list("key", "name", "path", "machines"),
    ):
        for row in rows.order_by().iterator(chunk_size=2_000):
            yield from filter(None, leaves.of(row))
