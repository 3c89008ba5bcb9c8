"""Readers of forwarding tables, one per format; each yields `TableColumns`."""
