"""The two databases of a data folder, shared by `serve` and the commands run beside it."""

import contextlib
from collections.abc import Callable, Iterator

from memcenter.embedded.folder import DataFolder, FolderBusy
from memcenter.embedded.postgres import EmbeddedPostgres
from memcenter.embedded.redis import EmbeddedRedis
from memcenter.lib import env

# The default owner and project of agents, so that a fresh instance works at once.
FOR_AGENTS = {"MEMCENTER_DEFAULT_OWNER": "personal", "MEMCENTER_DEFAULT_PROJECT": "general"}


class Instance:
    """The databases of a folder, with two locks.

    `databases` is held while starting or stopping them, `users` (shared) while a process needs
    them. The last user stops them; the kernel releases the lock of a killed process.
    """

    def __init__(self, folder: DataFolder, *, dies_with_parent: bool = False) -> None:
        self.folder = folder
        self.postgres = EmbeddedPostgres(folder, dies_with_parent=dies_with_parent)
        self.redis = EmbeddedRedis(folder, dies_with_parent=dies_with_parent)

    def environment(self) -> dict[str, str]:
        """Return the environment for the settings, known before any server runs."""
        return {
            "MEMCENTER_DATA_DIR": str(self.folder.path),
            "MEMCENTER_SECRET_KEY": env.text("MEMCENTER_SECRET_KEY")
            or self.folder.secrets.secret_key,
            "DATABASE_URL": self.postgres.url("app"),
            "MEMCENTER_OWNER_DATABASE_URL": self.postgres.url("owner"),
            "REDIS_URL": self.redis.url(),
        }

    @contextlib.contextmanager
    def borrowed(self, *, prepare: Callable[[], None] | None = None) -> Iterator[None]:
        """Keep the prepared databases running until this and every other user has left."""
        with contextlib.ExitStack() as mine:
            try:
                with self.folder.lock("databases"):
                    mine.enter_context(self.folder.lock("users", shared=True))
                    self.postgres.start()
                    self.redis.start()
                    if prepare:
                        prepare()
                yield
            finally:
                mine.close()
                self._stop_if_unused()

    def _stop_if_unused(self) -> None:
        alone = self.folder.lock("users", wait=False)
        with self.folder.lock("databases"), contextlib.suppress(FolderBusy), alone:
            self.redis.stop()
            self.postgres.stop()
