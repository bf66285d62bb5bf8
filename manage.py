#!/usr/bin/env python
"""Run a Django command, with the databases of the data folder where no others are given."""

from memcenter.command_line import manage

if __name__ == "__main__":
    manage()
