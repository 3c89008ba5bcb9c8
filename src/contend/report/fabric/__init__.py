"""Reports of fabrics."""
