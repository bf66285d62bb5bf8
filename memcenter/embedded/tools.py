"""The database to back up, and the programs for it."""

from pathlib import Path

from django.conf import settings

from memcenter.backup import BackupError, Where
from memcenter.embedded.placement import wheel_binaries


def where_it_is() -> Where:
    """Return the owner's connection of the settings' database, and the bundled programs."""
    if not settings.OWNER_DATABASE_URL:
        raise BackupError("MEMCENTER_OWNER_DATABASE_URL is needed: the owner makes the backup.")
    data = Path(settings.DATA_DIR)
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Where(
        url=settings.OWNER_DATABASE_URL,
        data=data,
        secret_key=settings.SECRET_KEY,
        tools=wheel_binaries(),
    )
