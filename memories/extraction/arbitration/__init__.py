"""The verdict on a candidate, by the pair head of the reader."""
