"""Samples of a pattern counted: how many, the result, who uses a channel, and what counters say."""
