"""The queue of operations (an outbox) and its worker: enqueue, claim, run, retry, and limit."""
