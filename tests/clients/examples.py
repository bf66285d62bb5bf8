"""The examples of the Python client, as modules."""

import importlib.util
from types import ModuleType

from tests.live import ROOT


def example(name: str) -> ModuleType:
    path = ROOT / f"clients/python/examples/{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
