"""The command line: one file per verb, each reads as the data flow."""

from contend.cli.endings import main

__all__ = ["main"]
