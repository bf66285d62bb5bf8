"""Erase forgotten texts from the raw files in the data folder, and prove it by a scan."""
