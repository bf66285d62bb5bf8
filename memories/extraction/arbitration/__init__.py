"""Decide on candidates with the pair head of the reader."""
