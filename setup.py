"""List the files of the wheel. Its other metadata is in pyproject.toml.

Templates, static files and translations lie beside the packages in the repository. In a wheel they
are in `memcenter/assets`, since other wheels may also have a top-level package `static`.
"""

from setuptools import find_namespace_packages, setup

PACKAGES = ("memcenter", "ops", "conversations", "memories", "foundation")
ASSETS = {f"memcenter.assets.{name}": name for name in ("templates", "static", "locale")}


def packages() -> list[str]:
    """Return all folders, including data folders, since setuptools treats each as a package."""
    ours = [pattern for name in PACKAGES for pattern in (name, f"{name}.*")]
    found = [*find_namespace_packages(include=ours, exclude=["*.__pycache__"])]
    for target, source in ASSETS.items():
        found += [target, *(f"{target}.{name}" for name in find_namespace_packages(source))]
    return found


setup(packages=packages(), package_dir=ASSETS, package_data={"": ["*"]})
