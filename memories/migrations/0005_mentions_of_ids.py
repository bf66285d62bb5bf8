"""Who mentions an erased id is found without reading everybody's rows."""

from django.db import migrations

from memcenter.lib.database.mentions import index_of_mentions

_COLUMNS = {
    "memories_project": {"key": "text", "name": "text", "machines": "list", "path": "text"},
    "memories_memory": {
        "content": "text",
        "summary": "text",
        "data": "json",
        "tags": "list",
        "content_hash": "text",
        "feedback_reason": "text",
        "agent_id": "text",
        "app_id": "text",
        "run_id": "text",
        "metadata": "json",
    },
    "memories_memoryversion": {
        "content": "text",
        "summary": "text",
        "candidate_text": "text",
        "reason": "text",
    },
    "memories_fragment": {"text": "text"},
    "memories_arbitration": {
        "candidate_text": "text",
        "target_text": "text",
        "decided_by": "text",
        "reasons": "list",
    },
    "memories_memoryfile": {"path": "text", "content": "text"},
    "memories_fileversion": {"content": "text"},
    "memories_dailynote": {"text": "text", "source": "text"},
    "memories_source": {"quote": "text", "reference": "text", "comment": "text"},
    "memories_recalltrace": {"query": "text", "stages": "json"},
    "memories_recallhit": {"components": "json"},
}


class Migration(migrations.Migration):
    dependencies = [("memories", "0004_no_statistics_of_words"), ("ops", "0008_mentions_of_ids")]
    operations = [
        *(index_of_mentions(table, columns) for table, columns in _COLUMNS.items()),
    ]
