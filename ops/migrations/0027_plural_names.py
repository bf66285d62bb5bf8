from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("ops", "0026_words_are_stored_plainly")]

    operations = [
        migrations.AlterModelOptions("delivery", {"verbose_name_plural": "deliveries"}),
        migrations.AlterModelOptions("identity", {"verbose_name_plural": "identities"}),
        migrations.AlterModelOptions("usersettings", {"verbose_name_plural": "user settings"}),
    ]
