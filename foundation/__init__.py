"""What the apps stand on: database and text helpers, providers of models, and the embedded servers.

Nothing here knows an app: `memcenter`, `ops`, `conversations` or `memories`.
"""

import os

# Must be set before numpy is imported. Our matrices are small, so several BLAS threads would only
# wait for each other and slow down other requests. Parallelism comes from processes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
