"""Errors speak of Python's arguments, ``routes=FILE``; the command line has options for them."""

from __future__ import annotations

import re

# Arguments whose names stand in messages; a name behind a comma is an engine's option.
_ARGUMENTS = (
    "bytes",
    "hosts",
    "launcher",
    "length",
    "load_bytes",
    "mpi",
    "packets",
    "patterns",
    "pattern",
    "picture",
    "placement",
    "ranks",
    "ranks_per_host",
    "route",
    "routes",
    "samples",
    "seed",
    "vectors",
    "window",
)
_ARGUMENT = re.compile(rf"(?<![^\s(])({'|'.join(_ARGUMENTS)})=(?=([A-Z])|[\s;:.)]|$)")


def in_options(message: str) -> str:
    """A message with options instead of arguments: ``--routes FILE`` for ``routes=FILE``."""
    return _ARGUMENT.sub(
        lambda match: f"--{match[1].replace('_', '-')}{' ' if match[2] else ''}", message
    )
