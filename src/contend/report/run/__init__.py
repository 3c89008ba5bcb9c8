"""Reports of measured runs."""
