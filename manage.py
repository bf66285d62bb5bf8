#!/usr/bin/env python
"""Run a Django command, with the data folder's databases unless DATABASE_URL is set."""

from memcenter.command_line import manage

if __name__ == "__main__":
    manage()
