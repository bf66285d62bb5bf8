"""The one-command run: PostgreSQL, Redis, and a supervisor that forks web, worker and beat."""
