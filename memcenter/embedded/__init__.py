"""Everything in one command: PostgreSQL, Redis, and a supervisor for web, worker and beat."""
