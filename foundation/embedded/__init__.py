"""Run everything with one command: PostgreSQL, Redis, web server, worker and beat.

Only the command line and the management commands may import this package. It depends on no app.
"""
