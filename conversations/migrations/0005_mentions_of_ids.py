"""Who mentions an erased id is found without reading everybody's rows."""

from django.db import migrations

from memcenter.lib.database.mentions import index_of_mentions

_COLUMNS = {
    "conversations_conversation": {"external_id": "text", "title": "text", "speakers": "list"},
    "conversations_message": {"external_id": "text", "speaker": "text", "content": "text"},
    "conversations_turn": {"project_key": "text", "tools": "json", "labels": "json"},
    "conversations_summary": {"text": "text"},
    "conversations_feedback": {"comment": "text"},
}


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0004_no_statistics_of_words"),
        ("ops", "0008_mentions_of_ids"),
    ]
    operations = [
        *(index_of_mentions(table, columns) for table, columns in _COLUMNS.items()),
    ]
