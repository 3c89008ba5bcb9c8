"""Pages: one file with verdict, tables, figures, and a network to explore."""
