from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0006_targets_are_looked_up")]

    operations = [
        migrations.AddField("fileversion", "typed", models.UUIDField(blank=True, null=True)),
        migrations.AddField(
            "memoryfile", "written_version", models.PositiveIntegerField(default=0)
        ),
        migrations.AddField(
            "memory", "removal_asked_at", models.DateTimeField(blank=True, null=True)
        ),
    ]
