"""The Django project: settings, URLs, REST, MCP, and the APIs of mem0 and OpenAI.

This package may use all apps. The code that the apps themselves are built on is in `foundation`.
"""

import foundation  # noqa: F401 (first: it limits the threads of numpy)
from memcenter.celery import app as celery_app

__all__ = ["celery_app"]
