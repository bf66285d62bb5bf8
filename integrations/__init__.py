"""Integrations of Memory Center with other products, each tested with its real packages."""
