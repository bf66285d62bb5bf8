"""Paths of the code, its templates and the data folder, for a checkout and an installed package."""

from __future__ import annotations

import os
from pathlib import Path

from foundation import env

BASE_DIR = Path(__file__).resolve().parents[1]


def is_checkout() -> bool:
    """Return whether this code runs from its repository; an installed package has no manage.py."""
    return (BASE_DIR / "manage.py").is_file()


def program_name() -> str:
    """Return the name of the program that people use to run our commands."""
    return "manage.py" if is_checkout() else "memcenter"


def assets_folder() -> Path:
    """Return the folder that contains `templates`, `static` and `locale`.

    In an installed package, these folders are in `memcenter/assets`, where `setup.py` puts them.
    """
    return BASE_DIR if is_checkout() else BASE_DIR / "memcenter" / "assets"


def data_folder() -> Path:
    """Return the path of the data folder.

    The path is MEMCENTER_DATA_DIR if set, else `.data` in a checkout, else a folder in the user's
    home.
    """
    named = env.text("MEMCENTER_DATA_DIR")
    if named:
        return Path(named).absolute()
    return BASE_DIR / ".data" if is_checkout() else _users_data() / "memcenter"


def _users_data() -> Path:
    named = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(named):
        return Path(named)
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        raise env.BadSetting("MEMCENTER_DATA_DIR", "is missing, and this user has no home folder")
    return Path(home) / ".local" / "share"
