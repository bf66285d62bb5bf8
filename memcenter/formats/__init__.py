"""Date formats that replace Django's own, with one subpackage for each language."""
