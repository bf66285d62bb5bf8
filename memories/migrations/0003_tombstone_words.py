from __future__ import annotations

import django.contrib.postgres.fields
from django.db import migrations, models

from foundation.database.schema import without_statistics


class Migration(migrations.Migration):
    dependencies = [("memories", "0002_portrait_phrases")]

    operations = [
        migrations.AddField(
            model_name="tombstone",
            name="word_hashes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=16),
                blank=True,
                db_default=[],
                default=list,
                size=None,
            ),
        ),
        without_statistics("memories_tombstone", "word_hashes"),
    ]
