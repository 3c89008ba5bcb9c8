"""The verbs of ``contend predict``."""
