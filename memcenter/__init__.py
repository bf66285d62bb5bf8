"""The project: settings, addresses, and the protocols REST, MCP, mem0's and OpenAI's.

The protocols use all apps. What the apps themselves stand on is in `foundation`.
"""

import foundation  # noqa: F401 (first: it limits the threads of numpy)
from memcenter.celery import app as celery_app

__all__ = ["celery_app"]
