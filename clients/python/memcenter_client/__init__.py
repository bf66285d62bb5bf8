"""Client of Memory Center: `MemoryCenter`, and `AsyncMemoryCenter` with the same methods."""

from memcenter_client import types
from memcenter_client.asynchronous import AsyncMemoryCenter
from memcenter_client.protocol import MemoryCenterError
from memcenter_client.synchronous import MemoryCenter

__all__ = ["AsyncMemoryCenter", "MemoryCenter", "MemoryCenterError", "types"]
