"""Whatever changes a vector is written down in its transaction, while they are elsewhere as well.

The trigger is off, and costs nothing, until `memcenter_follow_vectors(true)`: only the owner may
switch it, so the function does it as the owner, for the system's role.
"""

from django.db import migrations

from memcenter.lib.database.row_security import rows_of_one_person

_FORWARD = """
CREATE FUNCTION memcenter_vector_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE one memories_vector;
BEGIN
  one := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
  INSERT INTO memories_vectorchange (user_id, space_id, target_kind, target_id)
  VALUES (one.user_id, one.space_id, one.target_kind, one.target_id);
  RETURN NULL;
END $$;
CREATE TRIGGER vector_changed AFTER INSERT OR UPDATE OR DELETE ON memories_vector
  FOR EACH ROW EXECUTE FUNCTION memcenter_vector_changed();
ALTER TABLE memories_vector DISABLE TRIGGER vector_changed;
CREATE FUNCTION memcenter_follow_vectors(wanted boolean) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF wanted THEN
    ALTER TABLE memories_vector ENABLE TRIGGER vector_changed;
  ELSE
    ALTER TABLE memories_vector DISABLE TRIGGER vector_changed;
  END IF;
END $$;
REVOKE ALL ON FUNCTION memcenter_follow_vectors(boolean) FROM PUBLIC;
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'memcenter_system') THEN
    GRANT EXECUTE ON FUNCTION memcenter_follow_vectors(boolean) TO memcenter_system;
  END IF;
END $$;
"""
_BACK = """
DROP FUNCTION memcenter_follow_vectors(boolean);
DROP TRIGGER vector_changed ON memories_vector;
DROP FUNCTION memcenter_vector_changed();
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0012_vectors_elsewhere")]
    operations = [
        migrations.RunSQL(_FORWARD, _BACK),
        rows_of_one_person("memories_vectorchange"),
    ]
