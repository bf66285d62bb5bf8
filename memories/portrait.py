"""The portrait: the memories about a person, in groups, as the "About you" page shows them.

The portrait is computed for each request, so a memory that is forgotten, disabled, deleted or
expired disappears at once. A memory is shown in the person's own words, or as the short phrase that
a chat model wrote for its current version (`memories.writing.portrait_phrases`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import (
    Case,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memories.extraction.wording.languages import TOPICS
from memories.extraction.wording.standalone import stands_alone
from memories.models import Kind, Memory, MemoryStatus, MemoryVersion, Origin, PortraitPhrase
from ops.models import User

MOST = 150  # memories in a portrait, the most important first
_FIRST_OF_ALL = ("self", "family", "work", "health")  # groups of the most personal memories
_FEW = 3  # memories of each group that `personal_memories` returns before all other memories
_NAME = re.compile(
    r"(?i)\bname(?:['’]?s)?\b"
    r"|\bcall(?:ed)? me\b(?! (?:back|again|when|after|before|at|on|in|if|later)\b)"
    r"|\bi['’]?m called\b|名字|我叫|叫我|姓名|^叫"
)
_OF_OTHERS = re.compile(r"\b(?:related|others)\.")  # reason codes of statements about others
SHOWN = 6  # phrases of a group that are shown before "more" is opened

TITLES: Mapping[str, str | Promise] = {
    "self": _("Who you are"),
    "family": _("Family and friends"),
    "health": _("Health"),
    "food": _("Food"),
    "work": _("Work and study"),
    "home": _("Home and things"),
    "hobbies": _("Hobbies and travel"),
    "plans": _("Plans"),
    "answers": _("How to talk to you"),
    "more": _("More about you"),
    "fragments": _("Said in passing"),
}
_TOPICS_OF = {
    "self": ("self",),
    "answers": ("answers",),
    "health": ("health",),
    "food": ("food",),
    "family": ("family", "people", "pets"),
    "work": ("work", "study"),
    "home": ("home", "things", "money"),
    "hobbies": ("hobbies", "travel"),
}
_GROUP_OF_TAG = {
    tag: group
    for group, topics in _TOPICS_OF.items()
    for topic in topics
    for tag in (topic, TOPICS[topic])
}


@dataclass(frozen=True)
class Phrase:
    """One memory of the portrait.

    `is_new` is True if the memory was created since the last visit. `is_changed` is True if an
    older memory was changed since the last visit.
    """

    memory: Memory
    wording: str = ""  # written by a chat model; "" if the person's own words are shown
    is_new: bool = False
    is_changed: bool = False

    @property
    def text(self) -> str:
        return self.wording or " ".join(self.memory.content.split())

    @property
    def is_fragment(self) -> bool:
        """Return whether the phrase is hard to understand without the surrounding conversation.

        A memory that the user wrote is never a fragment, and a constraint isn't either: an allergy,
        for example, is too important to be hidden in a folded group.
        """
        if self.memory.origin == Origin.USER or self.memory.kind == "constraint":
            return False
        reason = self.memory.reason or ""  # type: ignore[attr-defined]
        return not stands_alone(self.text, of_other=_OF_OTHERS.search(reason) is not None)


@dataclass(frozen=True)
class Group:
    key: str
    phrases: Sequence[Phrase]

    @property
    def title(self) -> str:
        return str(TITLES[self.key])

    @property
    def is_quiet(self) -> bool:
        """Return whether the group is shown folded, after all other groups."""
        return self.key == "fragments"

    @property
    def first(self) -> Sequence[Phrase]:
        return self.phrases[:SHOWN]

    @property
    def rest(self) -> Sequence[Phrase]:
        return self.phrases[SHOWN:]


def portrait_of(user: User, *, since: datetime | None = None) -> list[Group]:
    """Return the groups of the portrait that have memories, in a fixed order.

    Within a group, constraints come first, then pinned and important memories, then the newest.
    Memories that mean little without their conversation are in the last group, `fragments`.
    Memories of projects aren't about the person and are left out. `since` is the time of the last
    visit.
    """
    groups: dict[str, list[Phrase]] = {key: [] for key in TITLES}
    for memory in portrait_memories(user):
        phrase = _phrase(memory, since)
        key = group_of(tags=memory.tags, kind=memory.kind, standing=memory.standing)
        groups["fragments" if phrase.is_fragment else key].append(phrase)
    return [Group(key, phrases) for key, phrases in groups.items() if phrases]


def personal_memories(user: User, *, limit: int) -> list[Memory]:
    """Return up to `limit` memories of the portrait, the most personal ones first.

    The first `_FEW` memories of every group come first, then the remaining memories. In each of
    these parts, the groups in `_FIRST_OF_ALL` precede the other groups, which have the order of the
    portrait. Within the group `self`, memories that state a name come first.
    """
    groups = {one.key: [phrase.memory for phrase in one.phrases] for one in portrait_of(user)}
    groups.get("self", []).sort(key=lambda one: not states_name(one))
    keys = [*_FIRST_OF_ALL, *(key for key in groups if key not in _FIRST_OF_ALL)]
    few = [one for key in keys for one in groups.get(key, [])[:_FEW]]
    rest = [one for key in keys for one in groups.get(key, [])[_FEW:]]
    return [*few, *rest][:limit]


def states_name(memory: Memory) -> bool:
    """Return whether a memory states a name, most likely that of the person."""
    return _NAME.search(memory.content) is not None


def group_of(*, tags: Iterable[str], kind: str, standing: bool) -> str:
    """Return the group of the portrait to which a memory with these tags and this kind belongs.

    Tasks and plans have a group of their own, whatever their topic, unless they are about how to
    answer the user.
    """
    topic = next((_GROUP_OF_TAG[tag] for tag in tags if tag in _GROUP_OF_TAG), "more")
    if standing or topic == "answers":
        return "answers"
    return "plans" if kind in (Kind.TASK, Kind.PLAN) else topic


def lines_of(groups: Sequence[Group]) -> Iterator[str]:
    """Yield the portrait as lines of Markdown, without labels for new or changed memories."""
    for group in groups:
        yield from ("", f"## {group.title}", "")
        yield from (f"- {phrase.text}" for phrase in group.phrases)


def portrait_memories(user: User) -> QuerySet[Memory]:
    """Return the memories of the portrait, annotated with `changed_at`, `reason` and `wording`.

    At most `MOST` memories are returned. `reason` holds the reason codes of the current version.
    `wording` is None if the current version has no phrase yet.
    """
    limits_first = Case(
        When(kind=Kind.CONSTRAINT, then=Value(0)), default=Value(1), output_field=IntegerField()
    )
    holds = Q(valid_until=None) | Q(valid_until__gt=timezone.now())
    rows = Memory.objects.filter(
        holds, user=user, project=None, status=MemoryStatus.ACTIVE, removal_asked_at=None
    )
    newest = MemoryVersion.objects.filter(memory=OuterRef("pk"), number=OuterRef("current_version"))
    phrase = PortraitPhrase.objects.filter(
        version__memory=OuterRef("pk"), version__number=OuterRef("current_version")
    )
    rows = rows.annotate(
        changed_at=Subquery(newest.values("created_at")[:1]),
        reason=Subquery(newest.values("reason")[:1]),
        wording=Subquery(phrase.values("text")[:1]),
    )
    return rows.order_by(limits_first, "-pinned", F("importance").desc(), "-created_at")[:MOST]


def _phrase(memory: Memory, since: datetime | None) -> Phrase:
    is_new = since is not None and memory.created_at > since
    changed_at = memory.changed_at  # type: ignore[attr-defined]
    is_changed = since is not None and changed_at is not None and changed_at > since
    wording = memory.wording or ""  # type: ignore[attr-defined]
    return Phrase(memory, wording, is_new, is_changed and not is_new)
