"""The verbs of ``contend fabric``."""
