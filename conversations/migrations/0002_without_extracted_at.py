"""Drop `extracted_at` of conversations from the models; no code has ever set it.

The column stays in the table: while a new version is rolled out, processes of the previous version
still read it. A later migration can drop the column.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("conversations", "0001_schema")]
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField("conversation", "extracted_at")]
        )
    ]
