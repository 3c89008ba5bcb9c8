"""Routes that a formula gives on networks of which nothing is missing."""
