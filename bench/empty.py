"""The product's settings with one more endpoint, which does nothing: for comparison."""

from memcenter.settings import *  # noqa: F403 - settings are read by name

ROOT_URLCONF = "bench.empty_urls"
