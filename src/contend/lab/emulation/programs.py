"""What programs need inside an emulated fabric: files, settings and a nap while they wait.

The files lie in the fabric's folder: names of its hosts, and scripts by which launchers of any MPI
library start ranks on them. The settings are what libraries must be told to talk over the fabric.
The nap is a small library that makes waiting ranks give the processor away, for MPI that lets them
spin.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import sys
from importlib.resources import files
from pathlib import Path

from contend.base.errors import MissingError, ShortfallError
from contend.base.process import run_process
from contend.lab.emulation.layout import (
    FABRIC_INTERFACE,
    FABRIC_NETWORK,
    MANAGEMENT,
    MANAGEMENT_ADDRESS,
    MANAGEMENT_INTERFACE,
    MANAGEMENT_NETWORK,
)
from contend.lab.emulation.spaces import Spaces
from contend.lab.mpi import Compiler, Library, hash_of, made_once, shared_memory_folders

_AGENT = str(files("contend") / "base" / "process" / "agent.py")
_COMPILE_LIMIT = 60.0
# Pieces of a message, of 128 KiB each, that wait at a connection at most.
_FRAGMENTS = 16


class Scripts:
    """Writes and names the files in an emulated fabric's folder.

    Args:
        folder: where they go.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.programs = folder / "bin"
        self.agent = self.programs / "agent"
        self.host_file = folder / "hostfile"
        self.scratch = folder / "scratch"

    def write(self, spaces: Spaces) -> None:
        """Writes everything for namespaces that are there."""
        assert spaces.management is not None
        pairs = zip(spaces.layout.nodes, spaces.nodes, strict=True)
        nodes = {node.label: space.descriptor for node, space in pairs}
        nodes[MANAGEMENT] = spaces.management.descriptor
        state = {
            "process": os.getpid(),
            "nodes": {
                label: {"descriptor": descriptor, "inode": os.fstat(descriptor).st_ino}
                for label, descriptor in nodes.items()
            },
        }
        self._write("state.json", json.dumps(state))
        self._write("hosts", _names(spaces))
        self._write("hostfile", "".join(f"{node.label}\n" for node in spaces.layout.host_nodes))
        self.programs.mkdir()
        self.scratch.mkdir()
        self._script(self.agent, ["remote"])
        self._script(self.programs / "on", ["on"])

    def inside(self, words: list[str]) -> list[str]:
        """A command that becomes another on the management side, and ends with this process."""
        return [*self._enter("bound"), MANAGEMENT, *words]

    def launcher(self, program: str) -> Path:
        """A script of a launcher's name that runs it on the management side."""
        folder = self._folder / hashlib.sha256(program.encode()).hexdigest()[:8]
        folder.mkdir(exist_ok=True)
        script = folder / Path(program).name
        self._script(script, ["on"], [MANAGEMENT, program])
        return script

    def _enter(self, form: str) -> list[str]:
        # Without the user's packages and settings it starts in a few milliseconds.
        return [sys.executable, "-I", "-S", _AGENT, form, str(self._folder)]

    def _script(self, path: Path, form: list[str], words: list[str] | None = None) -> None:
        command = shlex.join([*self._enter(*form), *(words or [])])
        path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        path.chmod(0o700)

    def _write(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text, encoding="utf-8")


def _names(spaces: Spaces) -> str:
    """The names of all nodes as /etc/hosts has them; a host's is its address on the fabric."""
    lines = ["127.0.0.1 localhost", f"{MANAGEMENT_ADDRESS} {MANAGEMENT}"]
    lines += [f"{node.address} {node.label}" for node in spaces.layout.nodes]
    return "\n".join(lines) + "\n"


def open_mpi(scripts: Scripts) -> dict[str, str]:
    """For versions 4 (whose launcher is ORTE) and 5 (PRRTE).

    Ranks of one host share memory, all others use TCP on the fabric. Waiting ranks give the
    processor away: all hosts are on this machine.
    """
    shared = {
        "btl_tcp_if_include": str(FABRIC_NETWORK),
        "pml": "ob1",
        # What versions call the transport through shared memory differs, so others are left out.
        "btl": "^openib,uct,ofi,usnic,smcuda",
        "mpi_yield_when_idle": "1",
        "hwloc_base_binding_policy": "none",
    }
    agent = str(scripts.agent)
    orte = {
        "plm": "rsh",
        "plm_rsh_agent": agent,
        "plm_rsh_no_tree_spawn": "1",
        "oob_tcp_if_include": str(MANAGEMENT_NETWORK),
    }
    prrte = {
        "plm": "ssh",
        "plm_ssh_agent": agent,
        "plm_ssh_no_tree_spawn": "1",
        "prte_if_include": str(MANAGEMENT_NETWORK),
    }
    return {
        **{f"OMPI_MCA_{name}": value for name, value in {**shared, **orte}.items()},
        **{f"PRTE_MCA_{name}": value for name, value in prrte.items()},
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        **shared_memory_folders(scripts.scratch),
    }


def several_connections(flows: int) -> dict[str, str]:
    """Has Open MPI share a long message evenly among several connections of a pair of ranks.

    They must be opened by `compiled_connect`.
    """
    settings = {
        "btl_tcp_links": str(flows),
        # Send, and without copies: what goes by put takes one connection.
        "btl_tcp_flags": "9",
        "pml_ob1_max_send_per_range": str(flows),
        # A connection that is held back holds back no other.
        "pml_ob1_send_pipeline_depth": str(_FRAGMENTS * flows),
    }
    return {f"OMPI_MCA_{name}": value for name, value in settings.items()}


def mpich(agent: Path) -> dict[str, str]:
    """For MPICH and its relatives, whose launcher is hydra.

    Whatever a library was built upon (UCX, libfabric, or sockets of its own), it is told to use
    TCP on the fabric.
    """
    return {
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": str(agent),
        "HYDRA_IFACE": MANAGEMENT_INTERFACE,
        "I_MPI_HYDRA_BOOTSTRAP": "ssh",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC": str(agent),
        "UCX_TLS": "tcp,self",
        "UCX_NET_DEVICES": FABRIC_INTERFACE,
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": FABRIC_INTERFACE,
        "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE": FABRIC_INTERFACE,
    }


def compiled_nap(library: Library) -> Path | None:
    """The library to preload into ranks; compiled once, None if no compiler is usable.

    Args:
        library: whose wrapper compiles it, when there is no plain compiler.
    """
    path = library.environment.get("PATH")
    compiler = shutil.which("cc", path=path) or shutil.which("gcc", path=path) or library.wrapper
    return _compiled(library, compiler, "idle", ["-ldl"])


def compiled_connect(library: Library, flows: int) -> Path:
    """The library to preload into ranks of Open MPI with several connections; compiled once.

    Args:
        library: whose wrapper compiles it.
        flows: connections of a pair.

    Raises:
        MissingError: it cannot be compiled.
    """
    built = _compiled(library, library.wrapper, "connect", [f"-DFLOWS={flows}", "-ldl"])
    if built is None:
        raise MissingError(
            f"{library.wrapper or library.name} cannot compile what opens {flows} connections for "
            "each pair of ranks"
        )
    return built


def _compiled(library: Library, compiler: str, name: str, options: list[str]) -> Path | None:
    """A shared library from a source of this room; None where it cannot be compiled."""
    if not compiler:
        return None
    environment = library.environment
    source = (files("contend") / "lab" / "emulation" / f"{name}.c").read_bytes()
    version = run_process([compiler, "--version"], environment, _COMPILE_LIMIT).output
    command = [compiler, "-O2", "-shared", "-fPIC"]
    key = hash_of(os.uname().machine, " ".join([*command, *options]), version, source)

    def link(folder: Path, _: Path) -> Path:
        made_by = Compiler(command, environment, run_process, _COMPILE_LIMIT, key)
        words = [str(folder / f"{name}.c"), *options]
        return made_by.make(words, folder, folder / f"{name}.so")

    try:
        return made_once(environment, f"{name}-{key}.so", {f"{name}.c": source}, link)
    except (MissingError, ShortfallError):
        return None
