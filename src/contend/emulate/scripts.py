"""The files of an emulated fabric: what programs outside need to find their way in."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sys
from pathlib import Path

from contend.emulate import agent
from contend.emulate.construct import Spaces
from contend.emulate.names import MANAGEMENT
from contend.emulate.owner import Claim
from contend.emulate.plan import MANAGEMENT_ADDRESS


class Scripts:
    """Writes and names the files in an emulated fabric's folder.

    Args:
        claim: the folder, and whose it is.
    """

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self.programs = claim.folder / "bin"
        self.agent = self.programs / "agent"
        self.host_file = claim.folder / "hostfile"

    def write(self, spaces: Spaces) -> None:
        """Writes everything for namespaces that are there."""
        assert spaces.management is not None
        held = zip(spaces.plan.nodes, spaces.nodes, strict=True)
        nodes = {node.label: space.descriptor for node, space in held}
        nodes[MANAGEMENT] = spaces.management.descriptor
        state = {
            "process": self._claim.process,
            "nodes": {
                label: {"descriptor": descriptor, "inode": os.fstat(descriptor).st_ino}
                for label, descriptor in nodes.items()
            },
        }
        self._write("state.json", json.dumps(state))
        self._write("hosts", _names(spaces))
        self._write("hostfile", "".join(f"{node.label}\n" for node in spaces.plan.host_nodes))
        self.programs.mkdir()
        self._script(self.agent, ["remote"])
        self._script(self.programs / "on", ["on"])

    def inside(self, words: list[str]) -> list[str]:
        """A command that becomes another on the management side, and ends with this process."""
        return [*self._enter("bound"), MANAGEMENT, *words]

    def launcher(self, program: str) -> Path:
        """A script of a launcher's name that runs it on the management side."""
        folder = self._claim.folder / hashlib.sha256(program.encode()).hexdigest()[:8]
        folder.mkdir(exist_ok=True)
        script = folder / Path(program).name
        self._script(script, ["on"], [MANAGEMENT, program])
        return script

    def _enter(self, form: str) -> list[str]:
        # Without the user's packages and settings it starts in a few milliseconds.
        return [sys.executable, "-I", "-S", agent.__file__, form, str(self._claim.folder)]

    def _script(self, path: Path, form: list[str], words: list[str] | None = None) -> None:
        command = shlex.join([*self._enter(*form), *(words or [])])
        path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        path.chmod(0o700)

    def _write(self, name: str, text: str) -> None:
        (self._claim.folder / name).write_text(text, encoding="utf-8")


def _names(spaces: Spaces) -> str:
    """The names of all nodes as /etc/hosts has them; a host's is its address on the fabric."""
    lines = ["127.0.0.1 localhost", f"{MANAGEMENT_ADDRESS} {MANAGEMENT}"]
    lines += [f"{node.address} {node.label}" for node in spaces.plan.nodes]
    return "\n".join(lines) + "\n"
