"""Better seats of ranks: on single hosts, and on whole servers with rails."""
