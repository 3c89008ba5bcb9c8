"""Reports of pairs of ranks in bisect patterns."""
