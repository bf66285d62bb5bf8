"""Rows of one person only, whatever a statement asks for."""

from django.db import migrations

from memcenter.lib.database.row_security import rows_of_one_person

_TABLES = (
    "conversations_conversation",
    "conversations_message",
    "conversations_turn",
    "conversations_summary",
    "conversations_episode",
    "conversations_feedback",
)


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0008_conversation_flushed_through"),
        ("ops", "0014_row_security"),
    ]
    operations = [rows_of_one_person(table) for table in _TABLES]
