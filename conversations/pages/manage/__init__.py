"""Pages that rename, clear, delete, export and import conversations."""
