"""Read a request: key, scope, person, fields, uploads, limits, repeated writes."""
