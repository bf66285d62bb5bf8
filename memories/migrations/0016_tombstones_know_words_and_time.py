"""A tombstone knows when it was forgotten, and pieces of the words that it was quoted from."""

import django.contrib.postgres.fields
import django.utils.timezone
from django.db import migrations, models
from django.db.models.functions import Now

from memcenter.lib.database.column_storage import without_statistics

_FORGOTTEN_WHEN_ERASED = "UPDATE memories_tombstone SET forgotten_at = created_at"


class Migration(migrations.Migration):
    dependencies = [("memories", "0015_words_are_stored_plainly")]

    operations = [
        migrations.AddField(
            "tombstone",
            "forgotten_at",
            models.DateTimeField(db_default=Now(), default=django.utils.timezone.now),
        ),
        migrations.AddField(
            "tombstone",
            "piece_size",
            models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            "tombstone",
            "pieces",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=16),
                blank=True,
                db_default=[],
                default=list,
                size=None,
            ),
        ),
        migrations.AlterField(
            "tombstone",
            "memory_public_id",
            models.CharField(blank=True, max_length=40),
        ),
        migrations.RunSQL(_FORGOTTEN_WHEN_ERASED, migrations.RunSQL.noop),
        without_statistics("memories_tombstone", "pieces"),
    ]
