"""The processors and the memory of a machine, as far as this process may use them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_MEMORY = Path("/proc/meminfo")
_PROCESSORS = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Machine:
    """What a host offers.

    Attributes:
        cpus: processors that the system schedules on.
        cores: cores; fewer than processors where each runs several threads.
        memory: bytes that programs can still take; None when it is not known.
    """

    cpus: int
    cores: int
    memory: int | None = None


def this_machine(processors: Path = _PROCESSORS, memory: Path = _MEMORY) -> Machine:
    """This machine, restricted to the processors that this process may run on."""
    allowed = os.sched_getaffinity(0)
    cores = {_core(cpu, processors) for cpu in allowed}
    return Machine(len(allowed), len(cores), _available(memory))


def _core(cpu: int, processors: Path) -> str:
    """Something that all threads of a core share and no other core has."""
    try:
        return (processors / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text()
    except OSError:
        return str(cpu)


def _available(memory: Path) -> int | None:
    try:
        lines = memory.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        words = line.split()
        if words[0] == "MemAvailable:" and words[1].isdecimal():
            return int(words[1]) * 1024
    return None
