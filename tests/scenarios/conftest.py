import uuid
from collections.abc import Iterator

import httpx
import pytest

from tests.live import PASSWORD, Product
from tests.scenarios.caller import Caller
from tests.scenarios.planted import Words
from tests.scenarios.planting import Planting, submit


@pytest.fixture
def ana(product: Product) -> Caller:
    """A user that the product has never heard of."""
    return Caller(product, f"ana-{uuid.uuid4().hex[:12]}")


@pytest.fixture
def bob(product: Product) -> Caller:
    return Caller(product, f"bob-{uuid.uuid4().hex[:12]}")


@pytest.fixture
def word() -> Words:
    return Words()


@pytest.fixture
def api(product: Product, word: Words) -> Iterator[Planting]:
    """A caller whose `user_id` is a word, too."""
    ana = Caller(product, word("user_id"))
    headers = {"Authorization": f"Bearer {product.api_key}"}
    with httpx.Client(base_url=product.address, headers=headers, timeout=60) as client:
        yield Planting(product, word, ana, client)


@pytest.fixture
def page(product: Product, word: Words) -> Iterator[Planting]:
    """Somebody who registered on the page under a word, signed in."""
    name = word("login name")
    with httpx.Client(base_url=product.address, timeout=60, follow_redirects=True) as client:
        one = Planting(product, word, Caller(product, name), client)
        submit(one, "/register/", username=name, password=PASSWORD)
        yield one


@pytest.fixture
def plain(product: Product, word: Words) -> Iterator[Planting]:
    ana = Caller(product, f"plain-{uuid.uuid4().hex[:12]}")
    headers = {"Authorization": f"Bearer {product.api_key}"}
    with httpx.Client(base_url=product.address, headers=headers, timeout=60) as client:
        yield Planting(product, word, ana, client)
