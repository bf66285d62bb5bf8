from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0007_message_stopped")]

    operations = [
        migrations.AddField(
            "conversation",
            "flushed_through",
            models.PositiveIntegerField(db_default=0, default=0),
        ),
    ]
