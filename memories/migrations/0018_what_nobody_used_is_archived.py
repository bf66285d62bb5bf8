"""A memory knows since when it lies in the archive, and how sure it was before it was rated."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0017_how_to_be_answered_stands_in_every_prompt")]

    operations = [
        migrations.AddField(
            "memory",
            "archived_at",
            models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            "memory",
            "confidence_unrated",
            models.FloatField(blank=True, null=True),
        ),
    ]
