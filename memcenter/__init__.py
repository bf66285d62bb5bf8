"""The Django project: settings, URLs, REST, MCP, and the APIs of mem0 and OpenAI.

The protocols use all apps. What the apps themselves stand on is in `foundation`.
"""

import foundation  # noqa: F401 (first: it limits the threads of numpy)
from memcenter.celery import app as celery_app

__all__ = ["celery_app"]
