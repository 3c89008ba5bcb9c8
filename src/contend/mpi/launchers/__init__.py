"""Launchers of ranks: one file for each, which says how it is told ranks, hosts and binding."""
