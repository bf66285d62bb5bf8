"""The queue of operations and its worker: enqueue, claim, run, retry, and limit the time.

The queue is an outbox: rows inserted in the transactions that make the operations necessary. It
may use `ops.registry` and the audit log, but no package that enqueues.
"""
