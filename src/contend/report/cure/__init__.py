"""Documents of cures: better tables and seats, added cables, failures, routing engines."""
