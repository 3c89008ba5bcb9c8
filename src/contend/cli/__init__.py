"""The command line: one file per verb, each reads as the data flow."""

from contend.cli.app import app, main

__all__ = ["app", "main"]
