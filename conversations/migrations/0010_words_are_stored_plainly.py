"""What people say is stored uncompressed, so that a scan of the raw files can read it."""

from django.db import migrations

from memcenter.lib.database.column_storage import uncompressed

_COLUMNS = {
    "conversations_conversation": ["title", "speakers"],
    "conversations_message": ["content", "speaker"],
    "conversations_turn": ["labels", "tools"],
    "conversations_summary": ["text"],
    "conversations_feedback": ["comment"],
}


class Migration(migrations.Migration):
    dependencies = [("conversations", "0009_row_security")]
    operations = [uncompressed(table, *columns) for table, columns in _COLUMNS.items()]
