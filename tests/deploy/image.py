"""The image without Docker: the steps of the `Dockerfile`, each stage a layer over this machine.

    python -m tests.deploy.image PLACE [--base BASE] [--pip]

builds it in PLACE, which must lie on another file system than BASE (`/`), as overlayfs wants it.
In the place of `python:3.11-slim` stands BASE with the Python that runs this in `/usr/local`; in
the place of what pip would download, the packages that this Python has, unless `--pip` is said.
Linux and root; everything is mounted where nobody else sees it, and gone with the process.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from argparse import ArgumentParser
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

from tests.deploy.dockerfile import context, steps
from tests.live import ROOT

ALONE = ["unshare", "--mount", "--propagation", "private"]
_BASE_PATH = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
_PACKAGES = Path("lib/python{}.{}/site-packages".format(*sys.version_info))


def mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *arguments], check=True)


def over(target: Path, lower: str, upper: Path | None = None) -> None:
    """Without `upper` nothing can be written."""
    options = f"lowerdir={lower}"
    if upper:
        work = upper.with_name(upper.name + ".work")
        for one in (upper, work):
            one.mkdir(parents=True, exist_ok=True)
        options += f",upperdir={upper},workdir={work}"
    target.mkdir(parents=True, exist_ok=True)
    mount("-t", "overlay", "overlay", "-o", options, target)


def furnish(root: Path) -> None:
    """What every container has, and the Python of the base."""
    mount("--bind", "-o", "ro", sys.base_prefix, root / "usr/local")
    mount("-t", "tmpfs", "tmpfs", root / "usr/local" / _PACKAGES)  # the base has none
    mount("--rbind", "/proc", root / "proc")
    mount("--rbind", "/dev", root / "dev")
    mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", root / "tmp")


def inside(root: Path, user: str, environment: dict[str, str], folder: str) -> list[str]:
    """What to put before a command to run it there, as Docker with `cap_drop` would."""
    uid, _, gid = user.partition(":")
    as_user = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
    as_user += ["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]
    given = [f"{key}={value}" for key, value in environment.items()]
    settled = ["env", "-i", f"--chdir={folder}", *given]
    return ["chroot", str(root), *([] if uid in ("", "0") else as_user), *settled]


@dataclass
class Stage:
    """One `FROM` and what follows it. `packages` take the place of what pip would download."""

    place: Path
    base: str
    packages: Path | None
    name: str
    folder: str = "/"
    user: str = ""
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": _BASE_PATH})
    said: dict[str, Any] = field(default_factory=dict)
    mounts: dict[str, str] = field(default_factory=dict)

    @property
    def layer(self) -> Path:
        return self.place / self.name

    @property
    def root(self) -> Path:
        return self.place / f"{self.name}.root"

    def begin(self) -> None:
        over(self.root, self.base, self.layer)
        furnish(self.root)
        self._run("ldconfig")  # as the base image did, for its libpython

    def take(self, word: str, said: str) -> None:
        {
            "WORKDIR": self._workdir,
            "RUN": self._run,
            "COPY": self._copy,
            "ENV": self._env,
        }.get(word, lambda text: self.said.__setitem__(word, text))(said)
        self.user = self.said.get("USER", "")

    def _workdir(self, said: str) -> None:
        self.folder = said
        self._inside(said).mkdir(parents=True, exist_ok=True)

    def _env(self, said: str) -> None:
        pairs = [one.partition("=") for one in shlex.split(said)]
        known = dict(self.environment)
        self.environment |= {key: Template(value).safe_substitute(known) for key, _, value in pairs}

    def _run(self, said: str) -> None:
        if "/pip install" in said and self.packages:
            there = Path(said.partition("/bin/pip ")[0]) / _PACKAGES
            upper = self.place / "packages"
            over(self._inside(str(there)), str(self.packages), upper)
            self.mounts[str(there)] = f"{upper}:{self.packages}"
            return
        before = inside(self.root, self.user, self.environment, self.folder)
        subprocess.run([*before, "/bin/sh", "-c", said], check=True)

    def _copy(self, said: str) -> None:
        """What comes from the checkout comes with its modes: those under the strictest umask."""
        *sources, target = said.split()
        origin = sources.pop(0) if sources[0].startswith("--from=") else None
        into = self._inside(target)
        for source in sources:
            if origin:
                other = self.place / f"{origin.removeprefix('--from=')}.root"
                _copy_tree(other / source.lstrip("/"), into)
            elif source == ".":
                _copy_context(context(ROOT), into)
            else:
                _copy_context([Path(source)], into)

    def _inside(self, path: str) -> Path:
        return self.root / os.path.normpath(Path(self.folder) / path).lstrip("/")


def build(place: Path, base: str, packages: Path | None) -> None:
    """Leave the last stage's layer in `place`, and in `image.json` what is run of it and how."""
    os.umask(0o022)  # Docker's
    stages: list[Stage] = []
    for step in steps((ROOT / "Dockerfile").read_text(encoding="utf-8")):
        print(step.word, step.said, flush=True)  # noqa: T201 - what `docker build` says too
        if step.word == "FROM":
            name = step.said.partition(" AS ")[2] or "image"
            stages.append(Stage(place, base, packages, name))
            stages[-1].begin()
        else:
            stages[-1].take(step.word, step.said)
    last = stages[-1]
    known = {"base": base, "environment": last.environment, "folder": last.folder, **last.said}
    known["mounts"] = {where: what for one in stages for where, what in one.mounts.items()}
    (place / "image.json").write_text(json.dumps(known), encoding="utf-8")


def _copy_tree(source: Path, target: Path) -> None:
    """Not what is mounted there: a layer has no mounts."""
    subprocess.run(["cp", "-a", "-x", "-T", source, target], check=True)


def _copy_context(paths: Iterable[Path], target: Path) -> None:
    for one in paths:
        source, there = ROOT / one, target / one
        if source.is_dir() and not source.is_symlink():
            there.mkdir(exist_ok=True)
        else:
            shutil.copy2(source, there, follow_symlinks=False)
        os.chown(there, 0, 0, follow_symlinks=False)
        if not there.is_symlink():
            there.chmod(there.stat().st_mode & 0o700)


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("place", type=Path)
    parser.add_argument("--base", default="/")
    parser.add_argument("--pip", action="store_true")
    said = parser.parse_args()
    build(said.place, said.base, None if said.pip else Path(sysconfig.get_paths()["purelib"]))
