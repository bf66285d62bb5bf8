"""The queue of operations and its worker: enqueue, claim, run, retry, and limit the time.

The queue is an outbox: rows inserted in the transactions that make the operations necessary. The
webhook events belong to it, because an ending operation writes one. The package may use
`ops.registry` and the audit log, but no package that enqueues.
"""
