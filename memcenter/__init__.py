"""The platform and the protocols: settings, REST, MCP, other products' APIs, and the runner.

`lib`, `providers` and `embedded` use no app; `rest`, `mcp` and `compat` use all of them.
"""

import os

# Must be set before numpy is imported. Our matrices are small, so several BLAS threads would only
# wait for each other and slow down other requests. Parallelism comes from processes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from memcenter.celery import app as celery_app

__all__ = ["celery_app"]
