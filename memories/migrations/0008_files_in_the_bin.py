from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0007_copies_and_edits_of_files")]

    operations = [
        migrations.AddField(
            "memoryfile", "deleted_at", models.DateTimeField(blank=True, null=True)
        ),
        migrations.RemoveConstraint("memoryfile", "file_path"),
        migrations.AddConstraint(
            "memoryfile",
            models.UniqueConstraint(
                fields=("user", "path"),
                condition=models.Q(deleted_at__isnull=True),
                name="file_path",
            ),
        ),
    ]
