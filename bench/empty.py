"""The product's settings with an endpoint that does nothing, as a baseline."""

from memcenter.settings import *  # noqa: F403 - settings are read by name

ROOT_URLCONF = "bench.empty_urls"
