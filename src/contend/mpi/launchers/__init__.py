"""Launchers of ranks: one file for each, with its options for ranks, hosts and binding."""
