"""The verbs of ``contend measure``: one file per probe."""
