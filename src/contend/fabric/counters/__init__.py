"""Port counters: their readers, and what channels have carried by them."""
