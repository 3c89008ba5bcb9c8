"""A network that ibsim plays, with OpenSM's routes, for InfiniBand's own tools to ask."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from contend.base.process import start_program
from contend.fabric import Fabric
from contend.routes import opensm, save
from processes import finished


class SimulatedNetwork:
    """A network under way.

    Attributes:
        environment: in which tools talk to it.
    """

    def __init__(self, folder: Path, simulation: subprocess.Popen[str]) -> None:
        library = next(Path("/usr/lib").glob("**/umad2sim/libumad2sim.so"))
        self._folder, self._simulation = folder, simulation
        self.environment = {"LD_PRELOAD": str(library), "SIM_HOST": "S0"}
        self.environment["IBSIM_SOCKNAME"] = folder.name

    def tool(self, *command: str) -> str:
        """What a tool prints."""
        done = finished(
            command,
            env={**os.environ, "OSM_CACHE_DIR": str(self._folder), **self.environment},
            cwd=self._folder,
        )
        return done.stdout

    def set_counter(self, port: str, counter: str) -> None:
        """Sets a counter of a port, such as ``"S0"[5]``, by the simulator's console."""
        print(f"PerformanceSet {port} {counter}", file=self._simulation.stdin, flush=True)
        self.until("has been set")

    def until(self, words: str) -> None:
        """Waits until the simulator says something."""
        output: IO[str] | None = self._simulation.stdout
        assert output is not None
        next(line for line in output if words in line)


@contextmanager
def simulated_network(
    fabric: Fabric, folder: Path, require_program: Callable[[str], str]
) -> Iterator[SimulatedNetwork]:
    """Plays a fabric in a folder, and lets OpenSM route it; needs both programs."""
    ibsim, manager = require_program("ibsim"), require_program("opensm")
    save(fabric, folder / "played.net", "ibsim")
    (folder / "opensm.conf").touch()
    with subprocess.Popen(
        [ibsim, "-s", "played.net"],
        cwd=folder,
        env={**os.environ, "IBSIM_SOCKNAME": folder.name},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as simulation:
        try:
            network = SimulatedNetwork(folder, simulation)
            network.until("simulator ready")
            network.tool(manager, "-F", "opensm.conf", "-f", "opensm.log", "-o")
            yield network
        finally:
            simulation.kill()


def tables_of_opensm(net: Path, host: str, room: Fabric, engine: str, *arguments: str) -> Path:
    """OpenSM's dump of what an engine configures on the network of a file, which ibsim plays.

    Args:
        net: as ibsim reads it; OpenSM runs in its folder.
        host: that OpenSM runs on, by its name there.
        room: has as many nodes and ports at least.
        engine: of OpenSM.
        arguments: of OpenSM.
    """

    def start(
        command: Sequence[str], folder: Path, environment: Mapping[str, str], out: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        return start_program(command, folder, {**environment, "SIM_HOST": host}, out)

    folder = net.parent
    shutil.copy(net, folder / "fabric.net")
    opensm.run(room, engine, arguments, folder, 60, start)
    assert f"{engine} tables configured on all" in (folder / "opensm.log").read_text()
    return folder / "opensm-lfts.dump"
