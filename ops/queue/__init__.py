"""The queue of operations and its worker.

The queue is an outbox: each operation is a row, inserted in the transaction that makes the
operation necessary. Webhook events are part of this package, because an operation writes such an
event when it ends. The package may use `ops.registry` and the audit log, but no package that
enqueues operations.
"""
