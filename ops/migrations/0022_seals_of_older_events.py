"""The events that were chained before have their seals too.

Those without a number come from before events had numbers: they get the numbers up to 0.
"""

from django.db import migrations

_FILL = """
INSERT INTO ops_auditseal (number, event_id, previous_hash, hash)
SELECT coalesce(number, row_number() OVER (PARTITION BY number IS NULL ORDER BY id)
                        - count(*) FILTER (WHERE number IS NULL) OVER ()),
       id, decode(previous_hash, 'hex'), decode(hash, 'hex')
  FROM ops_auditevent WHERE hash IS NOT NULL
ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [("ops", "0021_audit_is_sealed_in_batches")]
    operations = [migrations.RunSQL(_FILL, migrations.RunSQL.noop)]
