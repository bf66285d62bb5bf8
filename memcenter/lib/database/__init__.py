"""Database helpers that know no model: hand-written SQL, cascades, row security, storage."""
