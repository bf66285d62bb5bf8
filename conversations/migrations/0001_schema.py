"""Conversations with their messages, and the tables that are derived from them."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.models import F, Q

from foundation import ids
from foundation.database.schema import (
    index_of_mentions, one_of, row_id, rows_of_one_person, uncompressed, user_key,
    without_statistics,
)

# Migrations of earlier versions. A database that has applied all of them has this schema.
_REPLACED = (
    "0001_initial", "0002_examined_through", "0003_turn_labels", "0004_no_statistics_of_words",
    "0005_mentions_of_ids", "0006_message_learning", "0007_message_stopped",
    "0008_conversation_flushed_through", "0009_row_security", "0010_words_are_stored_plainly",
    "0011_message_withheld_and_told", "0012_secrets_that_were_read",
)

_KINDS = [("main", "private"), ("group", "group")]
_ROLES = [("user", "user"), ("assistant", "assistant"), ("system", "system"), ("tool", "tool")]
_LEARNING = [("", "With Turn"), ("waits", "Waits"), ("done", "Done")]
_WITHHELD = [
    ("", "No"), ("off", "Memory Off"), ("asked", "Asked"), ("forgotten", "Forgotten"),
    ("people", "Many People"),
]
_TOLD = [("", "Received"), ("dated", "Dated"), ("undated", "Undated")]
_RATINGS = [("positive", "good"), ("negative", "bad"), ("very_negative", "very bad")]
_MANAGERS = [("objects", models.Manager()), ("everything", models.Manager())]

_PERSONAL = (
    "conversations_conversation", "conversations_message", "conversations_turn",
    "conversations_summary", "conversations_episode", "conversations_feedback",
)
_WITHOUT_STATISTICS = {
    "conversations_conversation": ("public_id", "external_id", "title", "speakers"),
    "conversations_message": ("public_id", "external_id", "speaker", "content"),
    "conversations_turn": ("public_id", "project_key", "tools", "labels"),
    "conversations_summary": ("public_id", "text"),
    "conversations_episode": ("public_id",),
    "conversations_feedback": ("comment",),
}
_UNCOMPRESSED = {
    "conversations_conversation": ("title", "speakers"),
    "conversations_message": ("content", "speaker"),
    "conversations_turn": ("labels", "tools"),
    "conversations_summary": ("text",),
    "conversations_feedback": ("comment",),
}
_MENTIONS = {
    "conversations_conversation": {"external_id": "text", "title": "text", "speakers": "list"},
    "conversations_message": {"external_id": "text", "speaker": "text", "content": "text"},
    "conversations_turn": {"project_key": "text", "tools": "json", "labels": "json"},
    "conversations_summary": {"text": "text"},
    "conversations_feedback": {"comment": "text"},
}


class Migration(migrations.Migration):
    initial = True
    replaces = [("conversations", name) for name in _REPLACED]
    dependencies = [("ops", "0001_schema")]
    operations = [
        migrations.CreateModel("Conversation", [
            row_id(),
            ("user", user_key()),
            ("public_id", models.CharField(
                max_length=40, unique=True, default=ids.conversation_id
            )),
            ("external_id", models.CharField(
                max_length=200, blank=True, null=True, db_collation="C"
            )),
            ("title", models.CharField(max_length=200, blank=True)),
            ("kind", models.CharField(max_length=8, default="main", choices=_KINDS)),
            ("speakers", ArrayField(models.CharField(max_length=100), blank=True, default=list)),
            ("last_number", models.PositiveIntegerField(default=0)),
            ("message_count", models.PositiveIntegerField(default=0)),
            ("last_message_at", models.DateTimeField(blank=True, null=True)),
            ("extracted_at", models.DateTimeField(blank=True, null=True)),
            ("examined_through", models.PositiveIntegerField(default=0)),
            ("flushed_through", models.PositiveIntegerField(default=0, db_default=0)),
            ("created_at", models.DateTimeField()),
            ("updated_at", models.DateTimeField(auto_now=True)),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "base_manager_name": "everything",
            "indexes": [
                models.Index(
                    fields=["user", "-last_message_at", "-id"], name="conversation_recent"
                ),
                models.Index(
                    fields=["last_message_at"], condition=Q(examined_through__lt=F("last_number")),
                    name="conversation_unexamined"
                ),
            ],
            "constraints": [
                one_of("kind", _KINDS, name="conversation_kind_known"),
                models.UniqueConstraint(
                    fields=("user", "external_id"), condition=Q(hidden_at__isnull=True),
                    name="conversation_external_id"
                ),
            ],
        }, managers=_MANAGERS),
        migrations.CreateModel("Message", [
            row_id(),
            ("user", user_key()),
            ("conversation", models.ForeignKey(
                "conversations.conversation", models.CASCADE, related_name="messages"
            )),
            ("public_id", models.CharField(max_length=40, unique=True, default=ids.message_id)),
            ("external_id", models.CharField(
                max_length=200, blank=True, null=True, db_collation="C"
            )),
            ("number", models.PositiveIntegerField()),
            ("role", models.CharField(max_length=12, choices=_ROLES)),
            ("speaker", models.CharField(max_length=100, blank=True)),
            ("content", models.TextField(blank=True)),
            ("completed", models.BooleanField(default=True)),
            ("stopped", models.BooleanField(default=False, db_default=False)),
            ("learning", models.CharField(
                max_length=5, blank=True, default="", db_default="", choices=_LEARNING
            )),
            ("withheld", models.CharField(
                max_length=9, blank=True, default="", db_default="", choices=_WITHHELD
            )),
            ("told", models.CharField(
                max_length=7, blank=True, default="", db_default="", choices=_TOLD
            )),
            ("secrets", ArrayField(
                models.PositiveIntegerField(), blank=True, default=list, db_default=[]
            )),
            ("token_count", models.PositiveIntegerField(default=0)),
            ("created_at", models.DateTimeField()),
            ("recorded_at", models.DateTimeField(auto_now_add=True)),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "base_manager_name": "everything",
            "indexes": [
                models.Index(fields=["user", "-created_at", "-id"], name="message_user"),
                models.Index(
                    fields=["conversation", "number"], condition=Q(learning="waits"),
                    name="message_waits_to_be_learned"
                ),
            ],
            "constraints": [
                one_of("role", _ROLES, name="message_role_known"),
                one_of("learning", _LEARNING, name="message_learning_known"),
                one_of("withheld", _WITHHELD, name="message_withheld_known"),
                one_of("told", _TOLD, name="message_told_known"),
                models.UniqueConstraint(fields=("conversation", "number"), name="message_number"),
                models.UniqueConstraint(
                    fields=("conversation", "external_id"), condition=Q(hidden_at__isnull=True),
                    name="message_external_id"
                ),
            ],
        }, managers=_MANAGERS),
        migrations.CreateModel("Turn", [
            row_id(),
            ("user", user_key()),
            ("conversation", models.ForeignKey(
                "conversations.conversation", models.CASCADE, related_name="turns"
            )),
            ("public_id", models.CharField(max_length=40, unique=True, default=ids.turn_id)),
            ("user_message", models.OneToOneField(
                "conversations.message", models.CASCADE, related_name="turn_as_question"
            )),
            ("assistant_message", models.OneToOneField(
                "conversations.message", models.CASCADE, related_name="turn_as_reply"
            )),
            ("project_key", models.CharField(max_length=100, blank=True)),
            ("tools", models.JSONField(blank=True, default=list)),
            ("labels", models.JSONField(blank=True, default=dict)),
            ("extracted_at", models.DateTimeField(blank=True, null=True)),
            ("created_at", models.DateTimeField()),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "base_manager_name": "everything",
            "indexes": [models.Index(fields=["user", "conversation", "-id"], name="turn_user")],
            "constraints": [
                models.CheckConstraint(
                    condition=~Q(user_message=F("assistant_message")), name="turn_two_messages"
                ),
            ],
        }, managers=_MANAGERS),
        migrations.CreateModel("Summary", [
            row_id(),
            ("user", user_key()),
            ("conversation", models.ForeignKey(
                "conversations.conversation", models.CASCADE, related_name="summaries"
            )),
            ("public_id", models.CharField(max_length=40, unique=True, default=ids.summary_id)),
            ("version", models.PositiveIntegerField()),
            ("text", models.TextField()),
            ("token_count", models.PositiveIntegerField(default=0)),
            ("covered_message_count", models.PositiveIntegerField()),
            ("from_number", models.PositiveIntegerField()),
            ("through_number", models.PositiveIntegerField()),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "verbose_name_plural": "summaries",
            "base_manager_name": "everything",
            "indexes": [
                models.Index(fields=["user", "conversation", "-version"], name="summary_user"),
            ],
            "constraints": [
                models.UniqueConstraint(fields=("conversation", "version"), name="summary_version"),
                models.CheckConstraint(
                    condition=Q(from_number__lte=F("through_number")), name="summary_range"
                ),
            ],
        }, managers=_MANAGERS),
        migrations.CreateModel("Episode", [
            row_id(),
            ("user", user_key()),
            ("conversation", models.ForeignKey(
                "conversations.conversation", models.CASCADE, related_name="episodes"
            )),
            ("turn", models.OneToOneField(
                "conversations.turn", models.CASCADE, related_name="episode"
            )),
            ("public_id", models.CharField(max_length=40, unique=True, default=ids.episode_id)),
            ("created_at", models.DateTimeField()),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "base_manager_name": "everything",
            "indexes": [models.Index(fields=["user", "conversation", "-id"], name="episode_user")],
        }, managers=_MANAGERS),
        migrations.CreateModel("Feedback", [
            row_id(),
            ("user", user_key()),
            ("message", models.OneToOneField(
                "conversations.message", models.CASCADE, related_name="feedback"
            )),
            ("rating", models.CharField(max_length=16, choices=_RATINGS)),
            ("comment", models.TextField(blank=True)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("updated_at", models.DateTimeField(auto_now=True)),
        ], {
            "verbose_name_plural": "feedback",
            "indexes": [models.Index(fields=["user"], name="feedback_user")],
            "constraints": [one_of("rating", _RATINGS, name="feedback_rating_known")],
        }),

        # What the database itself enforces and stores
        *(rows_of_one_person(table) for table in _PERSONAL),
        *(without_statistics(table, *columns) for table, columns in _WITHOUT_STATISTICS.items()),
        *(uncompressed(table, *columns) for table, columns in _UNCOMPRESSED.items()),
        *(index_of_mentions(table, columns) for table, columns in _MENTIONS.items()),
    ]
