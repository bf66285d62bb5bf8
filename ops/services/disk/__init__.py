"""What erasing means on the disk: rewritten tables, a renewed log, and a scan of the raw files.

May import models and the other services of `ops`; only `erasing` and the handler import it.
"""
