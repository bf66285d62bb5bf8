from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ops", "0022_seals_of_older_events")]

    operations = [
        migrations.AddField(
            "apikey", "requires_user", models.BooleanField(default=False, db_default=False)
        ),
    ]
