"""Options: what one is, those that verbs share, where ranks run, and where results go."""
