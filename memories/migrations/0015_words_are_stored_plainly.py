"""What people say is stored uncompressed, so that a scan of the raw files can read it."""

from django.db import migrations

from memcenter.lib.database.column_storage import uncompressed

_COLUMNS = {
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


class Migration(migrations.Migration):
    dependencies = [("memories", "0014_policies_are_estimated_better")]
    operations = [uncompressed(table, *columns) for table, columns in _COLUMNS.items()]
