"""Writers of fabrics, one per format; each yields the pieces of a file."""
