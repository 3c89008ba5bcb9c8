"""Dumps of forwarding tables: their readers, and how what they say becomes routes of a fabric."""
