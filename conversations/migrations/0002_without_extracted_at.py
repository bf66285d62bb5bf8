"""Drop `extracted_at` of conversations from the models; no code has ever set it.

The column stays in the table, because the version before reads it while a new version is rolled
out. A later migration can drop the column.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("conversations", "0001_schema")]
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField("conversation", "extracted_at")]
        )
    ]
