"""Jobs that run: how well each sits, whom it hurts, and where the next one would sit best."""
