"""Other programs' files, read into plain values. Nothing here knows Django or writes a row."""
