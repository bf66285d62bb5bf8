from django.db import migrations, models


def _choice(*values: tuple[str, str], length: int) -> models.Field:  # type: ignore[type-arg]
    return models.CharField(
        blank=True, choices=list(values), db_default="", default="", max_length=length
    )


class Migration(migrations.Migration):
    dependencies = [("conversations", "0010_words_are_stored_plainly")]

    operations = [
        migrations.AddField(
            "message",
            "withheld",
            _choice(
                ("", "No"),
                ("off", "Memory Off"),
                ("asked", "Asked"),
                ("forgotten", "Forgotten"),
                ("people", "Many People"),
                length=9,
            ),
        ),
        migrations.AddField(
            "message",
            "told",
            _choice(("", "To Us"), ("dated", "Dated"), ("undated", "Undated"), length=7),
        ),
        migrations.AddConstraint(
            "message",
            models.CheckConstraint(
                condition=models.Q(withheld__in=["", "off", "asked", "forgotten", "people"]),
                name="message_withheld_known",
            ),
        ),
        migrations.AddConstraint(
            "message",
            models.CheckConstraint(
                condition=models.Q(told__in=["", "dated", "undated"]),
                name="message_told_known",
            ),
        ),
    ]
