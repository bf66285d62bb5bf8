"""Run everything with one command: PostgreSQL, Redis, web server, worker and beat."""
