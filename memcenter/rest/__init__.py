"""The shared base of all REST endpoints."""
