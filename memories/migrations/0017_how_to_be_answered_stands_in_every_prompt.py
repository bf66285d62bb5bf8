"""Memories that say how the person wants to be answered are in every prompt, as pinned ones are."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("memories", "0016_tombstones_know_words_and_time")]

    operations = [
        migrations.AddField(
            "memory",
            "standing",
            models.BooleanField(db_default=False, default=False),
        ),
        AddIndexConcurrently(
            "memory",
            models.Index(
                condition=Q(kind="constraint") | Q(pinned=True) | Q(standing=True),
                fields=["user"],
                name="memory_always",
            ),
        ),
        RemoveIndexConcurrently("memory", "memory_constraints"),
    ]
