"""``contend doctor``: what contend can do on this machine, and what the rest takes."""

from __future__ import annotations

import contend
from contend.cli.options.outputs import TextOutputs


def doctor(outputs: TextOutputs) -> None:
    """Show what contend can do on this machine, and what to install for the rest.

    Tries everything the way the other commands do: compiles a small probe and starts two ranks of
    it, emulates a network of four hosts for a moment, asks Slurm for its jobs. Leaves nothing
    behind. The exit status is 0 whatever is missing.

    Example: contend doctor --json machine.json
    """
    outputs.deliver(contend.doctor().document())
