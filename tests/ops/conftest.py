from collections.abc import Iterator

import pytest
from django.core.cache import cache


@pytest.fixture
def no_attempts() -> Iterator[None]:
    """Redis is not rolled back: what one test tried is not held against the next."""
    cache.clear()
    yield
    cache.clear()
