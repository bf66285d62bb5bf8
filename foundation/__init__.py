"""The base layer of all apps: database and text helpers, model providers, and embedded servers.

Nothing here depends on an app (`memcenter`, `ops`, `conversations` or `memories`).
"""

import os

# Must be set before numpy is imported. Our matrices are small, so several BLAS threads would only
# wait for each other and slow down other requests. Parallelism comes from processes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
