"""Erase forgotten texts from the raw files of the data folder, and prove it by a scan."""
