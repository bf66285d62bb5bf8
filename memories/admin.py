from django.contrib import admin
from django.utils.translation import gettext_lazy

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
    called = gettext_lazy("memory"), gettext_lazy("memories")
    masked = ("content", "summary", "data", "tags", "feedback_reason", "metadata")
    never = ("content_hash",)
    list_display = ("public_id", "user", "kind", "content", "status", "origin", "updated_at")
    list_filter = ("kind", "status", "origin", "pinned")
    search_fields = ("=public_id", "=user__username", "=user__external_id")


@admin.register(MemoryVersion)
class MemoryVersionAdmin(ReadOnlyAdmin):
    called = gettext_lazy("version of a memory"), gettext_lazy("versions of memories")
    masked = ("content", "summary", "candidate_text", "reason")
    list_display = ("pk", "user", "memory", "number", "change", "actor", "content", "created_at")
    list_filter = ("change", "actor")
    search_fields = ("=memory__public_id",)


@admin.register(VersionInput)
class VersionInputAdmin(ReadOnlyAdmin):
    called = gettext_lazy("merged version"), gettext_lazy("merged versions")
    list_display = ("pk", "user", "output", "input")


@admin.register(Fragment)
class FragmentAdmin(ReadOnlyAdmin):
    called = gettext_lazy("part of a long memory"), gettext_lazy("parts of long memories")
    masked = ("text",)
    list_display = ("pk", "user", "memory", "number", "text", "token_count")


@admin.register(PortraitPhrase)
class PortraitPhraseAdmin(ReadOnlyAdmin):
    called = gettext_lazy("phrase about a person"), gettext_lazy("phrases about people")
    masked = ("text",)
    list_display = ("pk", "user", "version", "text", "created_at")


@admin.register(Source)
class SourceAdmin(ReadOnlyAdmin):
    called = gettext_lazy("source of a memory"), gettext_lazy("sources of memories")
    masked = ("quote", "comment")
    list_display = ("pk", "user", "memory", "version", "origin", "turn", "quote", "created_at")
    list_filter = ("origin",)
    search_fields = ("=memory__public_id", "=turn__public_id")


@admin.register(Relation)
class RelationAdmin(ReadOnlyAdmin):
    called = gettext_lazy("link between memories"), gettext_lazy("links between memories")
    list_display = ("pk", "user", "memory", "kind", "other", "strength", "created_at")
    list_filter = ("kind",)


@admin.register(Arbitration)
class ArbitrationAdmin(ReadOnlyAdmin):
    called = gettext_lazy("decision on a statement"), gettext_lazy("decisions on statements")
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
    list_filter = (("verdict", LatestValuesFilter), ("decided_by", LatestValuesFilter))
    search_fields = ("=memory__public_id", "=target__public_id", "=turn__public_id")


@admin.register(Tombstone)
class TombstoneAdmin(ReadOnlyAdmin):
    called = (
        gettext_lazy("mark of a forgotten text"),
        gettext_lazy("marks of forgotten texts"),
    )
    never = ("text_hash", "about_hash", "word_hashes")
    list_display = ("pk", "user", "memory_public_id", "created_at")
    search_fields = ("=memory_public_id",)


@admin.register(Refusal)
class RefusalAdmin(ReadOnlyAdmin):
    called = gettext_lazy("secret not kept"), gettext_lazy("secrets not kept")
    list_display = ("pk", "user", "category", "redacted", "turn", "created_at")
    list_filter = ("category", "redacted")


@admin.register(RecallTrace)
class RecallTraceAdmin(ReadOnlyAdmin):
    called = gettext_lazy("recall"), gettext_lazy("recalls")
    masked = ("query",)
    list_display = ("request_id", "user", "kind", "query", "took_ms", "created_at")
    list_filter = ("kind",)
    search_fields = ("=request_id", "=answer__public_id")


@admin.register(RecallHit)
class RecallHitAdmin(ReadOnlyAdmin):
    called = gettext_lazy("recalled text"), gettext_lazy("recalled texts")
    list_display = ("pk", "user", "trace", "rank", "type", "target_public_id", "score", "in_block")
    list_filter = (("type", LatestValuesFilter), "in_block")
    search_fields = ("=target_public_id", "=trace__request_id")


@admin.register(Project)
class ProjectAdmin(ReadOnlyAdmin):
    called = gettext_lazy("project"), gettext_lazy("projects")
    masked = ("name", "machines", "path")
    list_display = ("pk", "user", "key", "name", "created_at", "updated_at")
    search_fields = ("=key", "=user__username", "=user__external_id")


@admin.register(MemoryFile)
class MemoryFileAdmin(ReadOnlyAdmin):
    called = gettext_lazy("memory file"), gettext_lazy("memory files")
    masked = ("path", "content")
    list_display = ("pk", "user", "path", "version", "content", "synced_at", "updated_at")


@admin.register(FileVersion)
class FileVersionAdmin(ReadOnlyAdmin):
    called = gettext_lazy("version of a memory file"), gettext_lazy("versions of memory files")
    masked = ("content",)
    list_display = ("pk", "user", "file", "number", "actor", "content", "created_at")


@admin.register(DailyNote)
class DailyNoteAdmin(ReadOnlyAdmin):
    called = gettext_lazy("daily note"), gettext_lazy("daily notes")
    masked = ("text", "source")
    list_display = ("public_id", "user", "day", "number", "text", "created_at")


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(ReadOnlyAdmin):
    called = gettext_lazy("kind of search vectors"), gettext_lazy("kinds of search vectors")
    list_display = ("embedder", "model", "dimensions", "version", "active", "created_at")


@admin.register(Vector)
class VectorAdmin(ReadOnlyAdmin):
    called = gettext_lazy("search vector"), gettext_lazy("search vectors")
    never = ("embedding",)
    list_display = ("pk", "user", "space", "target_kind", "target_id")
    list_filter = ("target_kind",)


@admin.register(LexicalEntry)
class LexicalEntryAdmin(ReadOnlyAdmin):
    called = gettext_lazy("entry of the word index"), gettext_lazy("entries of the word index")
    # The terms reveal the text, and an index entry can't be hidden while its text is forgotten.
    never = ("terms",)
    list_display = ("pk", "user", "target_kind", "target_id", "length")
    list_filter = ("target_kind",)
