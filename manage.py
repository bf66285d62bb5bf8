#!/usr/bin/env python
"""Run a Django command; without DATABASE_URL, use the databases in the data folder."""

from memcenter.command_line import manage

if __name__ == "__main__":
    manage()
