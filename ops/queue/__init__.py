"""The outbox and its worker: enqueue, claim under a lease, run, retry, limit the time."""
