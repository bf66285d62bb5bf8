"""Memories with their versions, sources and index entries; memory files; traces of recalls."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import BtreeGinExtension
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone
from pgvector.django import HalfVectorField, VectorExtension

from foundation import ids
from foundation.database.schema import (
    index_of_mentions, one_of, row_id, rows_of_one_person, uncompressed, user_key,
    without_statistics,
)

# Migrations of earlier versions. A database that has applied all of them has this schema.
_REPLACED = (
    "0001_initial", "0002_joint_sources", "0003_constraints_of_a_person",
    "0004_no_statistics_of_words", "0005_mentions_of_ids", "0006_targets_are_looked_up",
    "0007_copies_and_edits_of_files", "0008_files_in_the_bin", "0009_lines_of_files",
    "0010_row_security", "0011_when_a_note_was_learned_from", "0012_vectors_elsewhere",
    "0013_vector_changes_are_written_down", "0014_policies_are_estimated_better",
    "0015_words_are_stored_plainly", "0016_tombstones_know_words_and_time",
    "0017_how_to_be_answered_stands_in_every_prompt", "0018_what_nobody_used_is_archived",
    "0019_earlier_texts_are_searched", "0020_plain_words",
)

_KINDS = [
    ("preference", "preference"), ("fact", "fact"), ("constraint", "must know"), ("task", "task"),
    ("pattern", "pattern"), ("skill", "skill"), ("event", "event"), ("requirement", "requirement"),
    ("plan", "plan"), ("development", "development"), ("testing", "testing"),
    ("insight", "insight"),
]
_STATUSES = [
    ("candidate", "waiting for review"), ("active", "active"), ("disabled", "disabled"),
    ("superseded", "outdated"), ("archived", "archived"),
]
_ORIGINS = [
    ("extracted", "learned from a conversation"), ("user", "written by you"),
    ("api", "written through the API"), ("agent", "written by an agent"),
    ("file", "from a memory file"), ("import", "imported"),
]
_RATINGS = [("positive", "good"), ("negative", "bad"), ("very_negative", "very bad")]
_CHANGES = [
    ("created", "learned"), ("edited", "edited"), ("replaced", "replaced by something newer"),
    ("merged", "merged"), ("restored", "restored"), ("consolidated", "consolidated"),
    ("derived", "derived again after forgetting"),
]
_RELATIONS = [("supports", "supports"), ("contradicts", "contradicts"), ("refines", "refines")]
_SECRETS = [
    ("password", "password"), ("api_key", "key or token"), ("card", "card number"),
    ("bank_account", "bank account"), ("identity_number", "identity number"),
    ("address", "precise address"),
]
_SEARCHED_IN = [("pgvector", "Pgvector"), ("filling", "Filling"), ("milvus", "Milvus")]
_TARGETS = [
    ("memory", "memory"), ("fragment", "fragment"), ("message", "message"),
    ("episode", "earlier moment"), ("summary", "summary"), ("note", "note"),
]
_TRACES = [("recall", "recall"), ("search", "search")]
_MANAGERS = [("objects", models.Manager()), ("everything", models.Manager())]

_PERSONAL = (
    "memories_project", "memories_memory", "memories_memoryversion", "memories_versioninput",
    "memories_fragment", "memories_arbitration", "memories_memoryfile", "memories_fileversion",
    "memories_dailynote", "memories_relation", "memories_source", "memories_refusal",
    "memories_tombstone", "memories_recalltrace", "memories_recallhit", "memories_vector",
    "memories_lexicalentry", "memories_vectorchange",
)
_WITHOUT_STATISTICS = {
    "memories_project": ["key", "name", "machines", "path"],
    "memories_memory": [
        "public_id", "content", "summary", "data", "tags", "content_hash", "feedback_reason",
        "agent_id", "app_id", "run_id", "metadata",
    ],
    "memories_memoryversion": ["content", "summary", "candidate_text", "reason"],
    "memories_fragment": ["text"],
    "memories_arbitration": ["verdict", "candidate_text", "target_text", "decided_by", "reasons"],
    "memories_memoryfile": ["path", "content"],
    "memories_fileversion": ["content", "actor"],
    "memories_dailynote": ["public_id", "text", "source"],
    "memories_source": ["quote", "reference", "comment"],
    "memories_tombstone": ["memory_public_id", "text_hash", "about_hash", "message_ids", "pieces"],
    "memories_recalltrace": ["request_id", "query", "stages"],
    "memories_recallhit": ["components"],
    "memories_vector": ["embedding"],
    "memories_lexicalentry": ["terms"],
}
_UNCOMPRESSED = {
    "memories_project": ["key", "name", "machines", "path"],
    "memories_memory": ["content", "summary", "data", "tags", "feedback_reason", "metadata"],
    "memories_memoryversion": ["content", "summary", "candidate_text", "reason"],
    "memories_fragment": ["text"],
    "memories_arbitration": ["candidate_text", "target_text"],
    "memories_memoryfile": ["content"],
    "memories_fileversion": ["content"],
    "memories_dailynote": ["text", "source"],
    "memories_source": ["quote", "comment"],
    "memories_recalltrace": ["query"],
    "memories_lexicalentry": ["terms"],
}
_MENTIONS = {
    "memories_project": {"key": "text", "name": "text", "machines": "list", "path": "text"},
    "memories_memory": {
        "content": "text", "summary": "text", "data": "json", "tags": "list",
        "content_hash": "text", "feedback_reason": "text", "agent_id": "text", "app_id": "text",
        "run_id": "text", "metadata": "json",
    },
    "memories_memoryversion": {
        "content": "text", "summary": "text", "candidate_text": "text", "reason": "text",
    },
    "memories_fragment": {"text": "text"},
    "memories_arbitration": {
        "candidate_text": "text", "target_text": "text", "decided_by": "text", "reasons": "list",
    },
    "memories_memoryfile": {"path": "text", "content": "text"},
    "memories_fileversion": {"content": "text"},
    "memories_dailynote": {"text": "text", "source": "text"},
    "memories_source": {"quote": "text", "reference": "text", "comment": "text"},
    "memories_recalltrace": {"query": "text", "stages": "json"},
    "memories_recallhit": {"components": "json"},
}

# While vectors are also in a store elsewhere, each change of a vector is recorded in its
# transaction. The trigger is disabled, and costs nothing, until `memcenter_follow_vectors(true)`.
# Only the owner may switch it, so the function runs as the owner, for the system's role.
_FOLLOW_VECTORS = """
CREATE FUNCTION memcenter_vector_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE one memories_vector;
BEGIN
  one := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
  INSERT INTO memories_vectorchange (user_id, space_id, target_kind, target_id)
  VALUES (one.user_id, one.space_id, one.target_kind, one.target_id);
  RETURN NULL;
END $$;
CREATE TRIGGER vector_changed AFTER INSERT OR UPDATE OR DELETE ON memories_vector
  FOR EACH ROW EXECUTE FUNCTION memcenter_vector_changed();
ALTER TABLE memories_vector DISABLE TRIGGER vector_changed;
CREATE FUNCTION memcenter_follow_vectors(wanted boolean) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF wanted THEN
    ALTER TABLE memories_vector ENABLE TRIGGER vector_changed;
  ELSE
    ALTER TABLE memories_vector DISABLE TRIGGER vector_changed;
  END IF;
END $$;
REVOKE ALL ON FUNCTION memcenter_follow_vectors(boolean) FROM PUBLIC;
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'memcenter_system') THEN
    GRANT EXECUTE ON FUNCTION memcenter_follow_vectors(boolean) TO memcenter_system;
  END IF;
END $$;
"""
_DO_NOT_FOLLOW_VECTORS = """
DROP FUNCTION memcenter_follow_vectors(boolean);
DROP FUNCTION memcenter_vector_changed() CASCADE;
"""


class Migration(migrations.Migration):
    initial = True
    replaces = [("memories", name) for name in _REPLACED]
    dependencies = [("ops", "0001_schema"), ("conversations", "0001_schema")]
    operations = [
        VectorExtension(),
        BtreeGinExtension(),

        # Memory files and daily notes
        migrations.CreateModel("MemoryFile", [
            row_id(),
            ("user", user_key()),
            ("path", models.CharField(max_length=200)),
            ("content", models.TextField(blank=True)),
            ("version", models.PositiveIntegerField(default=1)),
            ("written_version", models.PositiveIntegerField(default=0)),
            ("synced_at", models.DateTimeField(blank=True, null=True)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("updated_at", models.DateTimeField(auto_now=True)),
            ("deleted_at", models.DateTimeField(blank=True, null=True)),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "base_manager_name": "everything",
            "constraints": [
                models.UniqueConstraint(
                    fields=("user", "path"), condition=Q(deleted_at__isnull=True), name="file_path"
                ),
            ],
        }, managers=_MANAGERS),
        migrations.CreateModel("FileVersion", [
            row_id(),
            ("user", user_key()),
            ("file", models.ForeignKey(
                "memories.memoryfile", models.CASCADE, related_name="versions"
            )),
            ("number", models.PositiveIntegerField()),
            ("content", models.TextField(blank=True)),
            ("actor", models.CharField(max_length=12)),
            ("typed", models.UUIDField(blank=True, null=True)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "base_manager_name": "everything",
            "indexes": [models.Index(fields=["user"], name="file_version_user")],
            "constraints": [
                models.UniqueConstraint(fields=("file", "number"), name="file_version"),
            ],
        }, managers=_MANAGERS),
        migrations.CreateModel("DailyNote", [
            row_id(),
            ("user", user_key()),
            ("public_id", models.CharField(max_length=40, unique=True, default=ids.note_id)),
            ("day", models.DateField(blank=True, null=True)),
            ("file", models.ForeignKey(
                "memories.memoryfile", models.CASCADE, blank=True, null=True, related_name="lines"
            )),
            ("number", models.PositiveIntegerField()),
            ("text", models.TextField()),
            ("source", models.CharField(max_length=200, blank=True)),
            ("learned_at", models.DateTimeField(blank=True, null=True)),
            ("created_at", models.DateTimeField()),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "base_manager_name": "everything",
            "constraints": [
                models.UniqueConstraint(fields=("user", "day", "number"), name="note_line_number"),
                models.CheckConstraint(
                    condition=(
                        Q(day__isnull=False, file__isnull=True)
                        | Q(day__isnull=True, file__isnull=False)
                    ),
                    name="note_of_day_or_file"
                ),
            ],
        }, managers=_MANAGERS),

        # Memories
        migrations.CreateModel("Project", [
            row_id(),
            ("user", user_key()),
            ("key", models.CharField(max_length=100)),
            ("name", models.CharField(max_length=200, blank=True)),
            ("machines", ArrayField(models.CharField(max_length=100), blank=True, default=list)),
            ("path", models.CharField(max_length=500, blank=True)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("updated_at", models.DateTimeField(auto_now=True)),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "base_manager_name": "everything",
            "constraints": [
                models.UniqueConstraint(
                    fields=("user", "key"), condition=Q(hidden_at__isnull=True), name="project_key"
                ),
            ],
        }, managers=_MANAGERS),
        migrations.CreateModel("Memory", [
            row_id(),
            ("user", user_key()),
            ("project", models.ForeignKey(
                "memories.project", models.CASCADE, blank=True, null=True, related_name="memories"
            )),
            ("public_id", models.CharField(max_length=40, unique=True, default=ids.memory_id)),
            ("kind", models.CharField(max_length=16, choices=_KINDS)),
            ("content", models.TextField()),
            ("summary", models.TextField(blank=True)),
            ("data", models.JSONField(blank=True, default=dict)),
            ("tags", ArrayField(models.CharField(max_length=50), blank=True, default=list)),
            ("importance", models.FloatField(default=0.5)),
            ("confidence", models.FloatField(default=0.8)),
            ("status", models.CharField(max_length=12, default="active", choices=_STATUSES)),
            ("pinned", models.BooleanField(default=False)),
            ("standing", models.BooleanField(default=False, db_default=False)),
            ("origin", models.CharField(max_length=12, choices=_ORIGINS)),
            ("content_hash", models.CharField(max_length=64, blank=True)),
            ("occurred_at", models.DateTimeField(blank=True, null=True)),
            ("valid_from", models.DateTimeField(blank=True, null=True)),
            ("valid_until", models.DateTimeField(blank=True, null=True)),
            ("access_count", models.PositiveIntegerField(default=0)),
            ("last_accessed_at", models.DateTimeField(blank=True, null=True)),
            ("feedback", models.CharField(max_length=16, blank=True, choices=_RATINGS)),
            ("feedback_reason", models.TextField(blank=True)),
            ("confidence_unrated", models.FloatField(blank=True, null=True)),
            ("agent_id", models.CharField(max_length=200, blank=True)),
            ("app_id", models.CharField(max_length=200, blank=True)),
            ("run_id", models.CharField(max_length=200, blank=True)),
            ("metadata", models.JSONField(blank=True, default=dict)),
            ("current_version", models.PositiveIntegerField(default=1)),
            ("chunk_count", models.PositiveIntegerField(default=0)),
            ("indexed_at", models.DateTimeField(blank=True, null=True)),
            ("superseded_by", models.ForeignKey(
                "memories.memory", models.SET_NULL, blank=True, null=True, related_name="supersedes"
            )),
            ("conflicts_with", models.ForeignKey(
                "memories.memory", models.SET_NULL, blank=True, null=True,
                related_name="contested_by"
            )),
            ("deleted_at", models.DateTimeField(blank=True, null=True)),
            ("purge_at", models.DateTimeField(blank=True, null=True)),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
            ("removal_asked_at", models.DateTimeField(blank=True, null=True)),
            ("archived_at", models.DateTimeField(blank=True, null=True)),
            ("created_at", models.DateTimeField()),
            ("updated_at", models.DateTimeField(auto_now=True)),
        ], {
            "verbose_name_plural": "memories",
            "base_manager_name": "everything",
            "indexes": [
                models.Index(fields=["user", "status", "-updated_at", "-id"], name="memory_list"),
                models.Index(fields=["user", "project"], name="memory_project"),
                models.Index(fields=["user", "-access_count"], name="memory_hot"),
                models.Index(
                    fields=["user"],
                    condition=Q(kind="constraint") | Q(pinned=True) | Q(standing=True),
                    name="memory_always"
                ),
                models.Index(
                    fields=["purge_at"], condition=Q(purge_at__isnull=False), name="memory_purge"
                ),
            ],
            "constraints": [
                one_of("kind", _KINDS, name="memory_kind_known"),
                one_of("status", _STATUSES, name="memory_status_known"),
                one_of("origin", _ORIGINS, name="memory_origin_known"),
                models.CheckConstraint(
                    condition=Q(importance__range=(0, 1)), name="memory_importance_0_1"
                ),
                models.CheckConstraint(
                    condition=Q(confidence__range=(0, 1)), name="memory_confidence_0_1"
                ),
                models.CheckConstraint(
                    condition=(
                        Q(deleted_at__isnull=True, purge_at__isnull=True)
                        | Q(deleted_at__isnull=False, purge_at__isnull=False)
                    ),
                    name="memory_bin_has_date"
                ),
                models.CheckConstraint(
                    condition=(
                        Q(valid_from__isnull=True)
                        | Q(valid_until__isnull=True)
                        | Q(valid_from__lte=F("valid_until"))
                    ),
                    name="memory_validity_order"
                ),
            ],
        }, managers=_MANAGERS),
        migrations.CreateModel("MemoryVersion", [
            row_id(),
            ("user", user_key()),
            ("memory", models.ForeignKey(
                "memories.memory", models.CASCADE, related_name="versions"
            )),
            ("number", models.PositiveIntegerField()),
            ("kind", models.CharField(max_length=16, choices=_KINDS)),
            ("content", models.TextField(blank=True)),
            ("summary", models.TextField(blank=True)),
            ("candidate_text", models.TextField(blank=True)),
            ("change", models.CharField(max_length=16, choices=_CHANGES)),
            ("actor", models.CharField(max_length=12, choices=_ORIGINS)),
            ("reason", models.CharField(max_length=300, blank=True)),
            ("created_at", models.DateTimeField()),
            ("erased_at", models.DateTimeField(blank=True, null=True)),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "base_manager_name": "everything",
            "indexes": [models.Index(fields=["user", "memory"], name="version_user")],
            "constraints": [
                one_of("change", _CHANGES, name="version_change_known"),
                models.UniqueConstraint(fields=("memory", "number"), name="version_number"),
                models.CheckConstraint(
                    condition=(
                        Q(erased_at__isnull=True)
                        | Q(candidate_text="", content="", summary="")
                    ),
                    name="version_erased_is_empty"
                ),
            ],
        }, managers=_MANAGERS),
        migrations.CreateModel("VersionInput", [
            row_id(),
            ("user", user_key()),
            ("output", models.ForeignKey(
                "memories.memoryversion", models.CASCADE, related_name="input_links"
            )),
            ("input", models.ForeignKey(
                "memories.memoryversion", models.CASCADE, related_name="output_links"
            )),
        ], {
            "indexes": [models.Index(fields=["user"], name="version_input_user")],
            "constraints": [
                models.UniqueConstraint(fields=("output", "input"), name="version_input_once"),
            ],
        }),
        # The relation between versions needs the table of its links.
        migrations.AddField("memoryversion", "inputs", models.ManyToManyField(
            "memories.memoryversion", related_name="outputs", through="memories.VersionInput"
        )),
        migrations.CreateModel("Fragment", [
            row_id(),
            ("user", user_key()),
            ("memory", models.ForeignKey(
                "memories.memory", models.CASCADE, related_name="fragments"
            )),
            ("version", models.ForeignKey(
                "memories.memoryversion", models.CASCADE, blank=True, null=True, db_index=False
            )),
            ("number", models.PositiveIntegerField()),
            ("text", models.TextField()),
            ("token_count", models.PositiveIntegerField()),
        ], {
            "indexes": [
                models.Index(fields=["user", "memory"], name="fragment_user"),
                models.Index(
                    fields=["version"], condition=Q(version__isnull=False),
                    name="fragment_of_version"
                ),
            ],
            "constraints": [
                models.UniqueConstraint(fields=("memory", "number"), name="fragment_number"),
            ],
        }),
        migrations.CreateModel("Relation", [
            row_id(),
            ("user", user_key()),
            ("memory", models.ForeignKey(
                "memories.memory", models.CASCADE, related_name="relations"
            )),
            ("other", models.ForeignKey(
                "memories.memory", models.CASCADE, related_name="related_by"
            )),
            ("kind", models.CharField(max_length=12, choices=_RELATIONS)),
            ("strength", models.FloatField(default=0.5)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
        ], {
            "indexes": [models.Index(fields=["user"], name="relation_user")],
            "constraints": [
                one_of("kind", _RELATIONS, name="relation_kind_known"),
                models.UniqueConstraint(fields=("memory", "other", "kind"), name="relation_once"),
                models.CheckConstraint(
                    condition=~Q(memory=F("other")), name="relation_two_memories"
                ),
                models.CheckConstraint(
                    condition=Q(strength__range=(0, 1)), name="relation_strength_0_1"
                ),
            ],
        }),
        migrations.CreateModel("Source", [
            row_id(),
            ("user", user_key()),
            ("memory", models.ForeignKey(
                "memories.memory", models.CASCADE, related_name="sources"
            )),
            ("version", models.ForeignKey(
                "memories.memoryversion", models.CASCADE, related_name="sources"
            )),
            ("origin", models.CharField(max_length=12, choices=_ORIGINS)),
            ("turn", models.ForeignKey(
                "conversations.turn", models.CASCADE, blank=True, null=True, related_name="sources"
            )),
            ("message", models.ForeignKey(
                "conversations.message", models.CASCADE, blank=True, null=True,
                related_name="sources"
            )),
            ("quote", models.TextField(blank=True)),
            ("quote_start", models.PositiveIntegerField(default=0)),
            ("joint", models.BooleanField(default=False)),
            ("reference", models.CharField(max_length=300, blank=True)),
            ("comment", models.CharField(max_length=200, blank=True)),
            ("created_at", models.DateTimeField()),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "base_manager_name": "everything",
            "indexes": [
                models.Index(fields=["user", "memory"], name="source_memory"),
                models.Index(fields=["user", "turn"], name="source_turn"),
            ],
            "constraints": [one_of("origin", _ORIGINS, name="source_origin_known")],
        }, managers=_MANAGERS),
        migrations.CreateModel("Refusal", [
            row_id(),
            ("user", user_key()),
            ("turn", models.ForeignKey(
                "conversations.turn", models.CASCADE, blank=True, null=True
            )),
            ("category", models.CharField(max_length=20, choices=_SECRETS)),
            ("redacted", models.BooleanField(default=False)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
        ], {
            "indexes": [models.Index(fields=["user", "-id"], name="refusal_user")],
            "constraints": [one_of("category", _SECRETS, name="refusal_category_known")],
        }),
        migrations.CreateModel("Arbitration", [
            row_id(),
            ("user", user_key()),
            ("turn", models.ForeignKey(
                "conversations.turn", models.CASCADE, blank=True, null=True
            )),
            ("memory", models.ForeignKey(
                "memories.memory", models.CASCADE, blank=True, null=True,
                related_name="arbitrations"
            )),
            ("target", models.ForeignKey(
                "memories.memory", models.CASCADE, blank=True, null=True, related_name="met_in"
            )),
            ("verdict", models.CharField(max_length=12)),
            ("candidate_text", models.TextField()),
            ("target_text", models.TextField(blank=True)),
            ("similarity", models.FloatField(blank=True, null=True)),
            ("decided_by", models.CharField(max_length=60)),
            ("reasons", ArrayField(models.CharField(max_length=60), blank=True, default=list)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
        ], {
            "indexes": [models.Index(fields=["user", "-id"], name="arbitration_user")],
        }),

        # Forgotten memories
        migrations.CreateModel("Tombstone", [
            row_id(),
            ("user", user_key()),
            ("memory_public_id", models.CharField(max_length=40, blank=True)),
            ("text_hash", models.CharField(max_length=64)),
            ("about_hash", models.CharField(max_length=64, blank=True)),
            ("pieces", ArrayField(
                models.CharField(max_length=16), blank=True, default=list, db_default=[]
            )),
            ("piece_size", models.PositiveSmallIntegerField(default=0, db_default=0)),
            ("message_ids", ArrayField(models.CharField(max_length=40), blank=True, default=list)),
            ("forgotten_at", models.DateTimeField(default=timezone.now, db_default=Now())),
            ("created_at", models.DateTimeField(auto_now_add=True)),
        ], {
            "indexes": [models.Index(fields=["user", "text_hash"], name="tombstone_text")],
        }),

        # The indexes
        migrations.CreateModel("EmbeddingSpace", [
            row_id(),
            ("embedder", models.CharField(max_length=60)),
            ("model", models.CharField(max_length=100)),
            ("dimensions", models.PositiveIntegerField()),
            ("version", models.PositiveIntegerField(default=1)),
            ("active", models.BooleanField(default=False)),
            ("searched_in", models.CharField(
                max_length=10, default="pgvector", db_default="pgvector", choices=_SEARCHED_IN
            )),
            ("created_at", models.DateTimeField(auto_now_add=True)),
        ], {
            "constraints": [
                one_of("searched_in", _SEARCHED_IN, name="space_searched_in_known"),
                models.UniqueConstraint(
                    fields=("embedder", "model", "dimensions", "version"), name="space_once"
                ),
                models.UniqueConstraint(
                    fields=("active",), condition=Q(active=True), name="space_one_active"
                ),
            ],
        }),
        migrations.CreateModel("Vector", [
            row_id(),
            ("space", models.ForeignKey("memories.embeddingspace", models.PROTECT)),
            ("user", user_key(db_index=False)),
            ("target_kind", models.CharField(max_length=10, choices=_TARGETS)),
            ("target_id", models.BigIntegerField()),
            ("conversation", models.ForeignKey(
                "conversations.conversation", models.CASCADE, null=True, db_index=False
            )),
            ("embedding", HalfVectorField()),
        ], {
            "indexes": [
                models.Index(
                    fields=["conversation", "target_kind"], condition=Q(conversation__isnull=False),
                    name="vector_conversation"
                ),
                models.Index(fields=["target_id"], name="vector_target"),
            ],
            "constraints": [
                one_of("target_kind", _TARGETS, name="vector_target_known"),
                models.UniqueConstraint(
                    fields=("user", "space", "target_kind", "target_id"), name="vector_once"
                ),
            ],
        }),
        migrations.CreateModel("VectorChange", [
            row_id(),
            ("user_id", models.BigIntegerField()),
            ("space_id", models.BigIntegerField()),
            ("target_kind", models.CharField(max_length=10)),
            ("target_id", models.BigIntegerField()),
        ], {
            "indexes": [
                models.Index(
                    fields=["user_id", "space_id", "target_kind", "target_id"], name="change_target"
                ),
            ],
        }),
        migrations.CreateModel("LexicalEntry", [
            row_id(),
            ("user", user_key(db_index=False)),
            ("target_kind", models.CharField(max_length=10, choices=_TARGETS)),
            ("target_id", models.BigIntegerField()),
            ("conversation", models.ForeignKey(
                "conversations.conversation", models.CASCADE, null=True, db_index=False
            )),
            ("terms", ArrayField(models.TextField())),
            ("length", models.PositiveIntegerField()),
        ], {
            "verbose_name_plural": "lexical entries",
            "indexes": [
                GinIndex(fields=["user", "terms"], name="lexical_terms"),
                models.Index(
                    fields=["conversation", "target_kind"], condition=Q(conversation__isnull=False),
                    name="lexical_conversation"
                ),
                models.Index(fields=["target_id"], name="lexical_target"),
            ],
            "constraints": [
                one_of("target_kind", _TARGETS, name="lexical_target_known"),
                models.UniqueConstraint(
                    fields=("user", "target_kind", "target_id"), name="lexical_once"
                ),
            ],
        }),

        # Traces of searches and recalls
        migrations.CreateModel("RecallTrace", [
            row_id(),
            ("user", user_key()),
            ("request_id", models.CharField(max_length=40, unique=True, default=ids.request_id)),
            ("kind", models.CharField(max_length=8, default="recall", choices=_TRACES)),
            ("query", models.TextField()),
            ("conversation", models.ForeignKey(
                "conversations.conversation", models.CASCADE, blank=True, null=True
            )),
            ("answer", models.ForeignKey(
                "conversations.message", models.CASCADE, blank=True, null=True,
                related_name="recalls"
            )),
            ("stages", models.JSONField(default=list)),
            ("took_ms", models.FloatField(default=0)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
        ], {
            "indexes": [
                models.Index(fields=["user", "-id"], name="trace_user"),
                models.Index(fields=["created_at"], name="trace_age"),
            ],
        }),
        migrations.CreateModel("RecallHit", [
            row_id(),
            ("user", user_key()),
            ("trace", models.ForeignKey(
                "memories.recalltrace", models.CASCADE, related_name="hits"
            )),
            ("type", models.CharField(max_length=10)),
            ("target_public_id", models.CharField(max_length=40)),
            ("rank", models.PositiveIntegerField()),
            ("score", models.FloatField()),
            ("components", models.JSONField(default=dict)),
            ("in_block", models.BooleanField(default=False)),
        ], {
            "indexes": [models.Index(fields=["target_public_id"], name="hit_named")],
            "constraints": [models.UniqueConstraint(fields=("trace", "rank"), name="hit_rank")],
        }),

        # What the database itself enforces and stores
        migrations.RunSQL(_FOLLOW_VECTORS, _DO_NOT_FOLLOW_VECTORS),
        *(rows_of_one_person(table) for table in _PERSONAL),
        *(without_statistics(table, *columns) for table, columns in _WITHOUT_STATISTICS.items()),
        *(uncompressed(table, *columns) for table, columns in _UNCOMPRESSED.items()),
        *(index_of_mentions(table, columns) for table, columns in _MENTIONS.items()),
    ]
