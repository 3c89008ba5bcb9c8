"""Formats of topology files, a module each, which reads and may write them."""
