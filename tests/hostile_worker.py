"""What a worker of the tests loads beside the product: handlers that do what an attack does."""

import django

django.setup()  # Celery loads this module before the apps

from tests import hostile_operations  # noqa: E402

hostile_operations.replace_handlers()
