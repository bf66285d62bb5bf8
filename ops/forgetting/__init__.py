"""The shared parts of all forget operations, forgetting a person, and erasing expired rows.

The package may use the other packages of `ops`, but no other app.
"""
