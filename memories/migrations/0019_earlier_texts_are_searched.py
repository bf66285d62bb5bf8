"""A memory is also found by the texts of the memory or version that it took the place of."""

import django.db.models.deletion
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("memories", "0018_what_nobody_used_is_archived")]

    operations = [
        migrations.AddField(
            "fragment",
            "version",
            models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                to="memories.memoryversion",
            ),
        ),
        AddIndexConcurrently(
            "fragment",
            models.Index(
                condition=models.Q(version__isnull=False),
                fields=["version"],
                name="fragment_of_version",
            ),
        ),
    ]
