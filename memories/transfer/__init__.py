"""Export, import and erase this app's personal data.

The package may use `ops.transfer` and the other packages of this app except `api` and `pages`.
"""
