from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ops", "0027_plural_names")]

    operations = [
        migrations.AddField(
            "usersettings", "portrait_seen_at", models.DateTimeField(null=True, blank=True)
        ),
        migrations.AddField(
            "usersettings", "portrait_visited_at", models.DateTimeField(null=True, blank=True)
        ),
    ]
