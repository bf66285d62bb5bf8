"""The database that an earlier version left after a few turns, a note and a file of two people.

`data/earlier-version.sql.gz` is from commit 49e15d7, the last one before its migrations became one
for each app: `pg_dump --schema=public --no-owner`, without its lines on the schema itself. To renew
it, load it with the version that landed before, migrate and dump it.
"""

import gzip
import subprocess

from foundation.embedded.postgres import wheel_binaries
from tests.live import ROOT

DUMP = ROOT / "tests/data/earlier-version.sql.gz"
# The dump only adds rights. Without the defaults of roles.sql, which it sets again at its end, the
# app's roles get no more of them than they had.
_NO_DEFAULT_PRIVILEGES = b"""
ALTER DEFAULT PRIVILEGES IN SCHEMA public
  REVOKE ALL ON TABLES FROM memcenter_app, memcenter_system;
ALTER DEFAULT PRIVILEGES IN SCHEMA public
  REVOKE ALL ON SEQUENCES FROM memcenter_app, memcenter_system;
"""


def load(url: str) -> None:
    """Put it into an empty database, which roles.sql has prepared."""
    subprocess.run(
        [wheel_binaries() / "psql", "-XqAt", "-v", "ON_ERROR_STOP=1", url],
        input=_NO_DEFAULT_PRIVILEGES + gzip.decompress(DUMP.read_bytes()),
        stdout=subprocess.DEVNULL,
        check=True,
    )
