"""Response shapes, which define the OpenAPI schema; many of them also render rows.

`rendering.py` builds the responses that need more than a single row.
"""

from __future__ import annotations

from rest_framework import serializers

from memcenter.rest.fields import Shape
from memcenter.rest.openapi import ErrorInside
from memories import weekly_changes
from memories.models import MemoryStatus
from memories.portrait import TITLES


class TurnIds(Shape):
    user_message_id = serializers.CharField()
    assistant_message_id = serializers.CharField()


class SearchHit(Shape):
    type = serializers.CharField()
    id = serializers.CharField()
    text = serializers.CharField()
    snippet = serializers.CharField()
    score = serializers.FloatField()
    components = serializers.DictField(child=serializers.FloatField())
    conversation_id = serializers.CharField(required=False)
    turn = TurnIds(required=False)
    created_at = serializers.DateTimeField(allow_null=True)
    occurred_at = serializers.DateTimeField(required=False)
    status = serializers.ChoiceField(
        choices=MemoryStatus.choices,
        required=False,
        help_text="Only for a memory. Archived memories are found, but not used in prompts.",
    )


class SearchAnswer(Shape):
    request_id = serializers.CharField()
    results = SearchHit(many=True)
    took_ms = serializers.FloatField()


class MemorySource(Shape):
    conversation_id = serializers.CharField(source="turn.conversation.public_id", allow_null=True)
    user_message_id = serializers.CharField(source="turn.user_message.public_id", allow_null=True)
    assistant_message_id = serializers.CharField(
        source="turn.assistant_message.public_id", allow_null=True
    )
    quote = serializers.CharField()
    origin = serializers.CharField()
    reference = serializers.CharField()
    comment = serializers.CharField()
    created_at = serializers.DateTimeField()


class NumberedSource(MemorySource):
    version = serializers.IntegerField(source="version.number")


class Memory(Shape):
    id = serializers.CharField(source="public_id")
    user_id = serializers.CharField(allow_null=True)
    project_key = serializers.CharField(source="project.key", allow_null=True)
    kind = serializers.CharField()
    content = serializers.CharField()
    summary = serializers.CharField()
    data = serializers.DictField()  # type: ignore[assignment] # the API contract requires this name
    tags = serializers.ListField(child=serializers.CharField())
    importance = serializers.FloatField()
    confidence = serializers.FloatField()
    status = serializers.CharField()
    pinned = serializers.BooleanField()
    standing = serializers.BooleanField(
        help_text="True if the memory says how to answer. It is then part of every prompt."
    )
    origin = serializers.CharField()
    metadata = serializers.DictField()
    feedback = serializers.CharField(allow_null=True)
    occurred_at = serializers.DateTimeField(allow_null=True)
    valid_from = serializers.DateTimeField(allow_null=True)
    valid_until = serializers.DateTimeField(allow_null=True)
    access_count = serializers.IntegerField()
    last_accessed_at = serializers.DateTimeField(allow_null=True)
    version = serializers.IntegerField(source="current_version")
    deleted_at = serializers.DateTimeField(allow_null=True)
    purge_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    sources = MemorySource(many=True, source="shown_sources")
    conflicts_with = serializers.ListField(child=serializers.CharField(), required=False)
    archived_at = serializers.DateTimeField(
        required=False,
        help_text=(
            "When the memory was archived because it was unused. It isn't used in prompts, but "
            "found by a search. PATCH with status active restores it."
        ),
    )
    archived_because = serializers.ChoiceField(choices=("unused",), required=False)
    removal_asked_at = serializers.DateTimeField(
        required=False,
        help_text=(
            "Since when the memory waits for the decision whether to delete it: it was removed "
            "from a memory file, or it may have ended, according to `conflicts_with`."
        ),
    )


class PortraitPhrase(Shape):
    id = serializers.CharField(source="memory.public_id")
    phrase = serializers.CharField(
        source="wording",
        allow_null=True,
        help_text="A short wording of the content by a chat model, or null to show the content.",
    )
    content = serializers.CharField(source="memory.content")
    kind = serializers.CharField(source="memory.kind")
    pinned = serializers.BooleanField(source="memory.pinned")
    created_at = serializers.DateTimeField(source="memory.created_at")


class PortraitGroup(Shape):
    group = serializers.ChoiceField(source="key", choices=tuple(TITLES))
    phrases = PortraitPhrase(many=True)


class Portrait(Shape):
    groups = PortraitGroup(many=True)


class WeekMemory(Shape):
    id = serializers.CharField(source="public_id")
    content = serializers.CharField()
    kind = serializers.CharField()
    at = serializers.DateTimeField(help_text="When the memory was learned, last changed, or ended.")


class WeekSection(Shape):
    section = serializers.ChoiceField(source="key", choices=tuple(weekly_changes.TITLES))
    count = serializers.IntegerField(
        help_text="The number of all memories; only the newest are listed."
    )
    memories = WeekMemory(many=True)


class Week(Shape):
    first = serializers.DateField()
    last = serializers.DateField()
    sections = WeekSection(many=True)
    forgotten = serializers.IntegerField(help_text="The number of memories that were forgotten.")


class WrittenMemory(Memory):
    result = serializers.ChoiceField(choices=("created", "updated", "skipped"))
    redacted = serializers.BooleanField(required=False)
    superseded = serializers.ListField(child=serializers.CharField())


class BatchResult(Shape):
    status = serializers.ChoiceField(choices=("created", "updated", "skipped", "refused"))
    memory = WrittenMemory(required=False, help_text="The written or already known memory.")
    error = ErrorInside(
        required=False, help_text="Why the memory was refused, with the invalid fields."
    )


class BatchResults(Shape):
    results = BatchResult(many=True, help_text="In the order of the given memories.")


class MemoryVersion(Shape):
    version = serializers.IntegerField(source="number")
    kind = serializers.CharField()
    content = serializers.CharField()
    summary = serializers.CharField()
    candidate_text = serializers.CharField()
    change = serializers.CharField()
    actor = serializers.CharField()
    reason = serializers.CharField()
    erased_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    sources = MemorySource(many=True, source="shown_sources")


class MemoryRecall(Shape):
    request_id = serializers.CharField(source="trace.request_id")
    query = serializers.CharField(source="trace.query")
    rank = serializers.IntegerField()
    score = serializers.FloatField()
    components = serializers.DictField(child=serializers.FloatField())
    conversation_id = serializers.CharField(source="trace.conversation.public_id", allow_null=True)
    message_id = serializers.CharField(source="trace.answer.public_id", allow_null=True)
    created_at = serializers.DateTimeField(source="trace.created_at")


class MemoryRelation(Shape):
    id = serializers.CharField()
    kind = serializers.CharField()
    strength = serializers.FloatField()
    direction = serializers.ChoiceField(choices=("from", "to"))
    content = serializers.CharField()
    created_at = serializers.DateTimeField()


class Decision(Shape):
    id = serializers.CharField()
    result = serializers.CharField()
    memory_id = serializers.CharField(required=False)


class Decisions(Shape):
    results = Decision(many=True)


class BulkResult(Shape):
    id = serializers.CharField()
    result = serializers.CharField()


class BulkResults(Shape):
    results = BulkResult(many=True)
    op_id = serializers.CharField(required=False)


class Stage(Shape):
    name = serializers.CharField()
    took_ms = serializers.FloatField()
    count = serializers.IntegerField()


class TracedHit(Shape):
    type = serializers.CharField()
    id = serializers.CharField(source="target_public_id")
    rank = serializers.IntegerField()
    score = serializers.FloatField()
    components = serializers.DictField(child=serializers.FloatField())
    in_block = serializers.BooleanField()


class Trace(Shape):
    request_id = serializers.CharField()
    query = serializers.CharField()
    created_at = serializers.DateTimeField()
    took_ms = serializers.FloatField()
    stages = Stage(many=True)
    hits = TracedHit(many=True)


class MemoryFigures(Shape):
    total = serializers.IntegerField()
    by_kind = serializers.DictField(child=serializers.IntegerField())
    by_status = serializers.DictField(child=serializers.IntegerField())


class RecallFigures(Shape):
    count = serializers.IntegerField()
    p50_ms = serializers.FloatField(allow_null=True)
    p99_ms = serializers.FloatField(allow_null=True)


class Metrics(Shape):
    memories = MemoryFigures()
    average_importance = serializers.FloatField(allow_null=True)
    conversations = serializers.IntegerField()
    messages = serializers.IntegerField()
    episodes = serializers.IntegerField()
    storage_bytes = serializers.IntegerField()
    recall = RecallFigures()
    cache_hit_rate = serializers.FloatField(
        help_text="The share of reads of memory tables that PostgreSQL served from its cache, for"
        " all people, since its statistics began. 1 if nothing was read yet."
    )


class AppendedLine(Shape):
    path = serializers.CharField(
        help_text="The daily note of the current day in the person's time zone."
    )
    line = serializers.IntegerField(
        source="note.number", help_text="The number of the line in the note."
    )
    id = serializers.CharField(source="note.public_id")
    text = serializers.CharField(help_text="The line as the note shows it.")
    redacted = serializers.BooleanField(required=False)
    created_at = serializers.DateTimeField(source="note.created_at")


class FileEntry(Shape):
    path = serializers.CharField()
    bytes = serializers.IntegerField()
    version = serializers.IntegerField(
        help_text="0 for a daily note, since daily notes have no versions."
    )
    updated_at = serializers.DateTimeField()


class File(FileEntry):
    content = serializers.CharField(source="text")


class EditedFile(Shape):
    path = serializers.CharField(source="file.path")
    version = serializers.IntegerField(source="file.version")
    created = serializers.ListField(source="done.created", child=serializers.CharField())
    updated = serializers.ListField(source="done.updated", child=serializers.CharField())
    recycled = serializers.ListField(source="done.recycled", child=serializers.CharField())
    to_review = serializers.ListField(source="done.to_review", child=serializers.CharField())


class FileVersion(Shape):
    version = serializers.IntegerField(source="number")
    bytes = serializers.IntegerField()
    actor = serializers.CharField(
        help_text="Who wrote it: page, api, mcp, tool, disk, or system (rendered from memories)."
    )
    content = serializers.CharField()
    created_at = serializers.DateTimeField()


class FlushSource(Shape):
    message_id = serializers.CharField(allow_null=True, help_text="The id of a recorded message.")
    index = serializers.IntegerField(
        allow_null=True,
        help_text="The position among the given messages, from 0, if there is no message_id.",
    )
    quote = serializers.CharField()


class FlushCandidate(Shape):
    id = serializers.CharField(help_text="An opaque id that is valid for one day.")
    kind = serializers.CharField()
    content = serializers.CharField()
    importance = serializers.FloatField()
    confidence = serializers.FloatField()
    source = FlushSource()  # type: ignore[assignment] # the API contract requires this name


class FlushWritten(Shape):
    id = serializers.CharField(source="memory", allow_null=True, help_text="The id of the memory.")
    result = serializers.ChoiceField(choices=("created", "updated", "skipped", "refused", "gone"))
    note_line = serializers.CharField(source="line", allow_null=True)
    note_id = serializers.CharField(source="note", allow_null=True)


class Flushed(Shape):
    candidates = FlushCandidate(many=True, required=False)
    written = FlushWritten(many=True, required=False)
    note = serializers.CharField(help_text="NO_REPLY if nothing was found, else empty.")
    tokens = serializers.IntegerField(
        required=False, help_text="The number of tokens in messages that weren't flushed before."
    )


class ToolAnswer(Shape):
    content = serializers.CharField(help_text="The text to pass on to the model unchanged.")


class AgentHit(Shape):
    id = serializers.CharField(source="hit.id")
    snippet = serializers.CharField(source="hit.snippet", help_text="At most 200 characters.")
    content_type = serializers.CharField(source="memory.kind")
    project_key = serializers.CharField(source="memory.project.key", allow_null=True)
    score = serializers.FloatField(source="hit.score")
    status = serializers.ChoiceField(source="memory.status", choices=MemoryStatus.choices)
    updated_at = serializers.DateTimeField(source="memory.updated_at")


class AgentFound(Shape):
    results = AgentHit(many=True)
    next_action = serializers.CharField()


class AgentMemories(Shape):
    results = Memory(many=True)
    missing = serializers.ListField(child=serializers.CharField())


class Ingested(Shape):
    status = serializers.ChoiceField(source="result", choices=("created", "updated", "skipped"))
    id = serializers.CharField(
        source="memory.public_id",
        help_text="If the memory was skipped, the id of the known memory.",
    )
    verdict = serializers.CharField()
    superseded = serializers.ListField(child=serializers.CharField())
    memory_status = serializers.CharField(
        source="memory.status", help_text="A `candidate` waits for the person's review."
    )
    redacted = serializers.BooleanField(required=False)


class TimelineEntry(Shape):
    id = serializers.CharField(source="public_id")
    snippet = serializers.CharField(help_text="At most 200 characters.")
    content_type = serializers.CharField(source="kind")
    project_key = serializers.CharField(source="project.key", allow_null=True)
    summary = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    version = serializers.IntegerField(source="current_version")
    at = serializers.DateTimeField(
        help_text="When the event happened, or else when the memory was written."
    )
    occurred_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class ListedProject(Shape):
    project_key = serializers.CharField(source="key")
    name = serializers.CharField()
    memory_count = serializers.IntegerField()
    last_memory_at = serializers.DateTimeField(allow_null=True)
    machines = serializers.ListField(child=serializers.CharField())
    path = serializers.CharField()
