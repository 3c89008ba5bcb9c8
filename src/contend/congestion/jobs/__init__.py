"""Jobs at the same time: what they send, what each gets, and what it loses to which other."""
