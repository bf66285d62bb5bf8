import os

# Before anything loads numpy. Its matrices are small here: several threads would spend their time
# waiting for each other, and take it from the requests beside them. Processes share the cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from memcenter.celery import app as celery_app

__all__ = ["celery_app"]
