from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("conversations", "0001_schema")]

    operations = [migrations.RemoveField("conversation", "extracted_at")]
