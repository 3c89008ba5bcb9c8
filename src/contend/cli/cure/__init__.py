"""Verbs that cure: better routes and seats, rules for all-to-alls, and where jobs go."""
