"""The policies of every table in words that the planner estimates better; the rows are the same."""

from django.db import migrations

from memcenter.lib.database.row_security import estimated_better

_TABLES = (
    "ops_usersettings",
    "ops_signinlink",
    "ops_signin",
    "ops_export",
    "ops_import",
    "ops_secondfactor",
    "ops_identity",
    "conversations_conversation",
    "conversations_message",
    "conversations_turn",
    "conversations_summary",
    "conversations_episode",
    "conversations_feedback",
    "memories_project",
    "memories_memory",
    "memories_memoryversion",
    "memories_versioninput",
    "memories_fragment",
    "memories_arbitration",
    "memories_memoryfile",
    "memories_fileversion",
    "memories_dailynote",
    "memories_relation",
    "memories_source",
    "memories_refusal",
    "memories_tombstone",
    "memories_recalltrace",
    "memories_recallhit",
    "memories_vector",
    "memories_lexicalentry",
    "memories_vectorchange",
)
_OR_THE_PRODUCTS = ("ops_apikey", "ops_webhook", "ops_idempotencyrecord")


class Migration(migrations.Migration):
    atomic = False  # each table is locked for a moment only, and never two of them
    dependencies = [
        ("memories", "0013_vector_changes_are_written_down"),
        ("conversations", "0009_row_security"),
        ("ops", "0019_kinds_of_vectors"),
    ]
    operations = [
        estimated_better("ops_user", owner="id"),
        *(estimated_better(table) for table in _TABLES),
        *(estimated_better(table, or_nobodys=True) for table in _OR_THE_PRODUCTS),
    ]
