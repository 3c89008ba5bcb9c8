"""Reports of hot spots."""
