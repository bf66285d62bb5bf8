"""Erase what was forgotten from the raw files of the data folder too, and prove it by a scan."""
