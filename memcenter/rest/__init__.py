"""The common base of all REST endpoints."""
