import uuid

import pytest

from tests.live import Product
from tests.scenarios.caller import Caller


@pytest.fixture
def ana(product: Product) -> Caller:
    """A user that the product has never heard of."""
    return Caller(product, f"ana-{uuid.uuid4().hex[:12]}")


@pytest.fixture
def bob(product: Product) -> Caller:
    return Caller(product, f"bob-{uuid.uuid4().hex[:12]}")
