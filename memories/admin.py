from django.contrib import admin

from memories.models import (
    Arbitration,
    DailyNote,
    EmbeddingSpace,
    FileVersion,
    Fragment,
    LexicalEntry,
    Memory,
    MemoryFile,
    MemoryVersion,
    PortraitPhrase,
    Project,
    RecallHit,
    RecallTrace,
    Refusal,
    Relation,
    Source,
    Tombstone,
    Vector,
    VersionInput,
)
from ops.admin.base import LatestValuesFilter, ReadOnlyAdmin


@admin.register(Memory)
class MemoryAdmin(ReadOnlyAdmin):
    masked = ("content", "summary", "data", "tags", "feedback_reason", "metadata")
    never = ("content_hash",)
    list_display = ("public_id", "user", "kind", "content", "status", "origin", "updated_at")
    list_select_related = ("user", "project", "superseded_by", "conflicts_with")
    list_filter = ("kind", "status", "origin", "pinned")
    search_fields = ("=public_id", "=user__username", "=user__external_id")


@admin.register(MemoryVersion)
class MemoryVersionAdmin(ReadOnlyAdmin):
    masked = ("content", "summary", "candidate_text", "reason")
    list_display = ("pk", "user", "memory", "number", "change", "actor", "content", "created_at")
    list_select_related = ("user", "memory")
    list_filter = ("change", "actor")
    search_fields = ("=memory__public_id",)


@admin.register(VersionInput)
class VersionInputAdmin(ReadOnlyAdmin):
    list_display = ("pk", "user", "output", "input")
    list_select_related = ("user", "output", "input")


@admin.register(Fragment)
class FragmentAdmin(ReadOnlyAdmin):
    masked = ("text",)
    list_display = ("pk", "user", "memory", "number", "text", "token_count")
    list_select_related = ("user", "memory")


@admin.register(PortraitPhrase)
class PortraitPhraseAdmin(ReadOnlyAdmin):
    masked = ("text",)
    list_display = ("pk", "user", "version", "text", "created_at")
    list_select_related = ("user", "version")


@admin.register(Source)
class SourceAdmin(ReadOnlyAdmin):
    masked = ("quote", "comment")
    list_display = ("pk", "user", "memory", "version", "origin", "turn", "quote", "created_at")
    list_select_related = ("user", "memory", "version", "turn", "message")
    list_filter = ("origin",)
    search_fields = ("=memory__public_id", "=turn__public_id")


@admin.register(Relation)
class RelationAdmin(ReadOnlyAdmin):
    list_display = ("pk", "user", "memory", "kind", "other", "strength", "created_at")
    list_select_related = ("user", "memory", "other")
    list_filter = ("kind",)


@admin.register(Arbitration)
class ArbitrationAdmin(ReadOnlyAdmin):
    masked = ("candidate_text", "target_text")
    list_display = (
        "pk",
        "user",
        "verdict",
        "candidate_text",
        "target_text",
        "similarity",
        "decided_by",
        "created_at",
    )
    list_select_related = ("user", "turn", "memory", "target")
    list_filter = (("verdict", LatestValuesFilter), ("decided_by", LatestValuesFilter))
    search_fields = ("=memory__public_id", "=target__public_id", "=turn__public_id")


@admin.register(Tombstone)
class TombstoneAdmin(ReadOnlyAdmin):
    never = ("text_hash", "about_hash")
    list_display = ("pk", "user", "memory_public_id", "created_at")
    list_select_related = ("user",)
    search_fields = ("=memory_public_id",)


@admin.register(Refusal)
class RefusalAdmin(ReadOnlyAdmin):
    list_display = ("pk", "user", "category", "redacted", "turn", "created_at")
    list_select_related = ("user", "turn")
    list_filter = ("category", "redacted")


@admin.register(RecallTrace)
class RecallTraceAdmin(ReadOnlyAdmin):
    masked = ("query",)
    list_display = ("request_id", "user", "kind", "query", "took_ms", "created_at")
    list_select_related = ("user", "conversation", "answer")
    list_filter = ("kind",)
    search_fields = ("=request_id", "=answer__public_id")


@admin.register(RecallHit)
class RecallHitAdmin(ReadOnlyAdmin):
    list_display = ("pk", "user", "trace", "rank", "type", "target_public_id", "score", "in_block")
    list_select_related = ("user", "trace")
    list_filter = (("type", LatestValuesFilter), "in_block")
    search_fields = ("=target_public_id", "=trace__request_id")


@admin.register(Project)
class ProjectAdmin(ReadOnlyAdmin):
    masked = ("name", "machines", "path")
    list_display = ("pk", "user", "key", "name", "created_at", "updated_at")
    list_select_related = ("user",)
    search_fields = ("=key", "=user__username", "=user__external_id")


@admin.register(MemoryFile)
class MemoryFileAdmin(ReadOnlyAdmin):
    masked = ("path", "content")
    list_display = ("pk", "user", "path", "version", "content", "synced_at", "updated_at")
    list_select_related = ("user",)


@admin.register(FileVersion)
class FileVersionAdmin(ReadOnlyAdmin):
    masked = ("content",)
    list_display = ("pk", "user", "file", "number", "actor", "content", "created_at")
    list_select_related = ("user", "file")


@admin.register(DailyNote)
class DailyNoteAdmin(ReadOnlyAdmin):
    masked = ("text", "source")
    list_display = ("public_id", "user", "day", "number", "text", "created_at")
    list_select_related = ("user",)


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(ReadOnlyAdmin):
    list_display = ("embedder", "model", "dimensions", "version", "active", "created_at")


@admin.register(Vector)
class VectorAdmin(ReadOnlyAdmin):
    never = ("embedding",)
    list_display = ("pk", "user", "space", "target_kind", "target_id")
    list_select_related = ("user", "space", "conversation")
    list_filter = ("target_kind",)


@admin.register(LexicalEntry)
class LexicalEntryAdmin(ReadOnlyAdmin):
    # The terms reveal the text, and this row can't be hidden while the text is being forgotten.
    never = ("terms",)
    list_display = ("pk", "user", "target_kind", "target_id", "length")
    list_select_related = ("user", "conversation")
    list_filter = ("target_kind",)
