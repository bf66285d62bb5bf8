import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0008_files_in_the_bin")]

    operations = [
        migrations.AlterField("dailynote", "day", models.DateField(blank=True, null=True)),
        migrations.AddField(
            "dailynote",
            "file",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="lines",
                to="memories.memoryfile",
            ),
        ),
        migrations.AddConstraint(
            "dailynote",
            models.CheckConstraint(
                condition=models.Q(day__isnull=False, file__isnull=True)
                | models.Q(day__isnull=True, file__isnull=False),
                name="note_of_day_or_file",
            ),
        ),
    ]
