"""The planner notes nothing of what people say: its notes would outlive what is forgotten."""

from django.db import migrations

from memcenter.lib.database.column_storage import without_statistics

_COLUMNS = {
    "conversations_conversation": ["public_id", "external_id", "title", "speakers"],
    "conversations_message": ["public_id", "external_id", "speaker", "content"],
    "conversations_turn": ["public_id", "project_key", "tools", "labels"],
    "conversations_summary": ["public_id", "text"],
    "conversations_episode": ["public_id"],
    "conversations_feedback": ["comment"],
}


class Migration(migrations.Migration):
    dependencies = [("conversations", "0003_turn_labels")]
    operations = [without_statistics(table, *columns) for table, columns in _COLUMNS.items()]
