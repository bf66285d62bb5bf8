"""Read from the database how memories depend on each other and on their sources.

`forget_plan` uses the result to compute which texts a request to forget erases or changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Q

from memories.forgetting.forget_plan import Text, VersionSource
from memories.models import Arbitration, Change, Memory, MemoryVersion, Origin, Source, VersionInput
from ops.models import User

_WRITTEN = (Change.CREATED, Change.EDITED, Change.REPLACED)


@dataclass(frozen=True)
class Graph:
    """Memories with all their versions, and the versions that served as inputs to them.

    `versions` maps primary keys to versions; `texts` describes each version for `forget_plan`.
    """

    memories: Sequence[Memory]
    versions: Mapping[int, MemoryVersion]
    texts: Sequence[Text]

    @cached_property
    def by_memory(self) -> Mapping[int, Sequence[Text]]:
        found: dict[int, list[Text]] = defaultdict(list)
        for text in self.texts:
            found[text.memory].append(text)
        return found


def read(user: User, memory_ids: Iterable[int]) -> Graph:
    """Return the graph of these memories and of all memories made from them; lock the memories."""
    known = _with_outputs(user, set(memory_ids))
    versions = {
        one.pk: one
        for one in MemoryVersion.everything.filter(user=user)
        .filter(Q(memory__in=known) | Q(output_links__output__memory__in=known))
        .distinct()
    }
    inputs: dict[int, list[int]] = defaultdict(list)
    links = VersionInput.objects.filter(user=user, output__in=versions).order_by("input")
    for output, source in links.values_list("output", "input"):
        inputs[output].append(source)
    said = Arbitration.objects.filter(
        user=user, memory__in={one.memory_id for one in versions.values()}, turn__isnull=False
    ).order_by("pk")
    statements = {
        (memory, turn): text
        for memory, turn, text in said.values_list("memory", "turn", "candidate_text")
    }
    sources: dict[int, list[VersionSource]] = defaultdict(list)
    for one in Source.everything.filter(user=user, version__in=versions).order_by("pk"):
        statement = statements.get((one.memory_id, one.turn_id or 0)) or one.quote
        sources[one.version_id].append(
            VersionSource(
                _key(one),
                one.hidden_at is not None,
                statement="" if one.joint else statement,
                joint=one.joint,
            )
        )
    texts = [
        _text(
            one,
            sources=sources[pk],
            inputs=[versions[key] for key in inputs[pk] if key in versions],
        )
        for pk, one in versions.items()
    ]
    memories = Memory.everything.select_for_update(of=("self",)).filter(user=user, pk__in=known)
    return Graph(list(memories.select_related("user").order_by("pk")), versions, texts)


def _with_outputs(user: User, known: set[int]) -> set[int]:
    frontier = known
    while frontier:
        made = MemoryVersion.everything.filter(user=user, inputs__memory__in=frontier)
        frontier = set(made.values_list("memory", flat=True)) - known
        known = known | frontier
    return known


def _key(source: Source) -> tuple[object, ...]:
    if source.turn_id or source.message_id:
        return (source.turn_id, source.message_id, source.quote_start, source.joint)
    return (source.origin, source.reference, source.created_at)


def _text(
    version: MemoryVersion, *, sources: Sequence[VersionSource], inputs: Sequence[MemoryVersion]
) -> Text:
    return Text(
        id=version.pk,
        memory=version.memory_id,
        content=version.content,
        candidate=version.candidate_text,
        by_person=version.actor != Origin.EXTRACTED and version.change in _WRITTEN,
        erased=version.erased_at is not None,
        sources=sources,
        inputs=[one.pk for one in inputs],
        consolidated=any(one.memory_id != version.memory_id for one in inputs),
    )


def current_text(graph: Graph, memory: Memory) -> Text:
    return next(
        one
        for one in graph.by_memory[memory.pk]
        if graph.versions[one.id].number == memory.current_version
    )
