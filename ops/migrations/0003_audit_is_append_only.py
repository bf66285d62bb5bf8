"""Nobody changes or erases what the audit log and the receipts say, whatever code runs.

The app's roles lose the rights, and triggers refuse everybody else. `ops_audithead` may only go
forward.
"""

from django.db import migrations

_FORWARD = """
CREATE FUNCTION memcenter_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE FUNCTION memcenter_only_forward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'UPDATE' OR NEW.id <> OLD.id OR NEW.number <> OLD.number + 1 THEN
    RAISE EXCEPTION '% only goes forward', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON ops_auditevent
  FOR EACH ROW EXECUTE FUNCTION memcenter_append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON ops_receipt
  FOR EACH ROW EXECUTE FUNCTION memcenter_append_only();
CREATE TRIGGER only_forward BEFORE UPDATE OR DELETE ON ops_audithead
  FOR EACH ROW EXECUTE FUNCTION memcenter_only_forward();
CREATE TRIGGER never_truncated BEFORE TRUNCATE ON ops_auditevent
  FOR EACH STATEMENT EXECUTE FUNCTION memcenter_append_only();
CREATE TRIGGER never_truncated BEFORE TRUNCATE ON ops_receipt
  FOR EACH STATEMENT EXECUTE FUNCTION memcenter_append_only();
DO $$
DECLARE one text;
BEGIN
  FOREACH one IN ARRAY ARRAY['memcenter_app', 'memcenter_system'] LOOP
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = one) THEN
      EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON ops_auditevent, ops_receipt FROM %I', one);
      EXECUTE format('REVOKE DELETE, TRUNCATE ON ops_audithead FROM %I', one);
    END IF;
  END LOOP;
END $$;
"""
_BACK = """
DROP TRIGGER append_only ON ops_auditevent;
DROP TRIGGER append_only ON ops_receipt;
DROP TRIGGER only_forward ON ops_audithead;
DROP TRIGGER never_truncated ON ops_auditevent;
DROP TRIGGER never_truncated ON ops_receipt;
DROP FUNCTION memcenter_append_only;
DROP FUNCTION memcenter_only_forward;
DO $$
DECLARE one text;
BEGIN
  FOREACH one IN ARRAY ARRAY['memcenter_app', 'memcenter_system'] LOOP
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = one) THEN
      EXECUTE format(
        'GRANT UPDATE, DELETE ON ops_auditevent, ops_receipt, ops_audithead TO %I', one);
    END IF;
  END LOOP;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("ops", "0002_residue_scan")]
    operations = [migrations.RunSQL(_FORWARD, _BACK)]
