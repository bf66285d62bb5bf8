"""Events of the audit log are chained apart from them, so that nobody waits for the chain's head.

A trigger enters each new event among those that wait to be sealed. The version before writes the
place in the chain into the event itself: the trigger makes its seal of that. The three columns for
it stay in the table, empty from now on, until no version before this one runs: a later migration
drops them.
"""

import django.db.models.deletion
from django.db import migrations, models

_FORWARD = """
ALTER TABLE ops_auditevent
  ALTER COLUMN hash DROP NOT NULL, ALTER COLUMN previous_hash SET DEFAULT '';
CREATE FUNCTION memcenter_seal_later() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.hash IS NULL THEN
    INSERT INTO ops_unsealedevent (event_id) VALUES (NEW.id);
  ELSE
    INSERT INTO ops_auditseal (number, event_id, previous_hash, hash)
    VALUES (NEW.number, NEW.id, decode(NEW.previous_hash, 'hex'), decode(NEW.hash, 'hex'));
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER seal_later AFTER INSERT ON ops_auditevent
  FOR EACH ROW EXECUTE FUNCTION memcenter_seal_later();
CREATE OR REPLACE FUNCTION memcenter_only_forward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'UPDATE' OR NEW.id <> OLD.id OR NEW.number <= OLD.number THEN
    RAISE EXCEPTION '% only goes forward', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON ops_auditseal
  FOR EACH ROW EXECUTE FUNCTION memcenter_append_only();
CREATE TRIGGER never_truncated BEFORE TRUNCATE ON ops_auditseal
  FOR EACH STATEMENT EXECUTE FUNCTION memcenter_append_only();
DO $$
DECLARE one text;
BEGIN
  FOREACH one IN ARRAY ARRAY['memcenter_app', 'memcenter_system'] LOOP
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = one) THEN
      EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON ops_auditseal FROM %I', one);
      EXECUTE format('REVOKE UPDATE, TRUNCATE ON ops_unsealedevent FROM %I', one);
    END IF;
  END LOOP;
END $$;
"""
_BACK = """
DO $$
BEGIN
  IF EXISTS (SELECT FROM ops_unsealedevent) THEN
    RAISE EXCEPTION 'events wait to be sealed: run manage.py verify_audit --seal first';
  END IF;
END $$;
DROP TRIGGER seal_later ON ops_auditevent;
DROP FUNCTION memcenter_seal_later;
ALTER TABLE ops_auditevent DISABLE TRIGGER append_only;
UPDATE ops_auditevent e
   SET number = CASE WHEN s.number > 0 THEN s.number END,
       previous_hash = encode(s.previous_hash, 'hex'), hash = encode(s.hash, 'hex')
  FROM ops_auditseal s WHERE s.event_id = e.id AND e.hash IS NULL;
ALTER TABLE ops_auditevent ENABLE TRIGGER append_only,
  ALTER COLUMN hash SET NOT NULL, ALTER COLUMN previous_hash DROP DEFAULT;
CREATE OR REPLACE FUNCTION memcenter_only_forward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'UPDATE' OR NEW.id <> OLD.id OR NEW.number <> OLD.number + 1 THEN
    RAISE EXCEPTION '% only goes forward', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
"""


def _one_to_one(name: str, **more: bool) -> models.OneToOneField:
    return models.OneToOneField(
        db_constraint=False,
        on_delete=django.db.models.deletion.PROTECT,
        related_name=name,
        to="ops.auditevent",
        **more,
    )


class Migration(migrations.Migration):
    dependencies = [("ops", "0020_decisions_outlive_a_restore")]
    operations = [
        migrations.CreateModel(
            name="AuditSeal",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("previous_hash", models.BinaryField(max_length=32)),
                ("hash", models.BinaryField(max_length=32)),
                ("event", _one_to_one("seal")),
            ],
        ),
        migrations.CreateModel(
            name="UnsealedEvent",
            fields=[("event", _one_to_one("unsealed", primary_key=True, serialize=False))],
        ),
        migrations.RemoveConstraint(model_name="auditevent", name="audit_number"),
        migrations.AlterField("auditevent", "hash", models.CharField(max_length=64)),
        migrations.RunSQL(_FORWARD, _BACK),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField("auditevent", name)
                for name in ("number", "previous_hash", "hash")
            ],
        ),
    ]
