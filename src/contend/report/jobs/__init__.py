"""Jobs that run side by side, and the next one, in words, tables and a figure."""
