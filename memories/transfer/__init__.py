"""Export, import and erase this app's personal data.

The package may use the other packages of this app except its interfaces, and `ops.transfer`.
"""
