"""The planner notes nothing of what people say: its notes would outlive what is forgotten."""

from django.db import migrations

from memcenter.lib.database.column_storage import without_statistics

_COLUMNS = {
    "memories_project": ["key", "name", "machines", "path"],
    "memories_memory": [
        "public_id",
        "content",
        "summary",
        "data",
        "tags",
        "content_hash",
        "feedback_reason",
        "agent_id",
        "app_id",
        "run_id",
        "metadata",
    ],
    "memories_memoryversion": ["content", "summary", "candidate_text", "reason"],
    "memories_fragment": ["text"],
    "memories_arbitration": ["verdict", "candidate_text", "target_text", "decided_by", "reasons"],
    "memories_memoryfile": ["path", "content"],
    "memories_fileversion": ["content", "actor"],
    "memories_dailynote": ["public_id", "text", "source"],
    "memories_source": ["quote", "reference", "comment"],
    "memories_tombstone": ["memory_public_id", "text_hash", "about_hash", "message_ids"],
    "memories_recalltrace": ["request_id", "query", "stages"],
    "memories_recallhit": ["components"],
    "memories_vector": ["embedding"],
    "memories_lexicalentry": ["terms"],
}


class Migration(migrations.Migration):
    dependencies = [("memories", "0003_constraints_of_a_person")]
    operations = [without_statistics(table, *columns) for table, columns in _COLUMNS.items()]
