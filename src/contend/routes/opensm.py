"""Routes as the real OpenSM computes them: it manages a fabric that ibsim plays."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import MissingError, ShortfallError, UsageError
from contend.base.process import Program, end_kindly, scratch_folder, start_program, wait_for
from contend.base.units import nearest
from contend.fabric import LARGEST_LID, Fabric, host_id, open_chunks, port_guids
from contend.routes import options
from contend.routes.addresses import with_other_lids
from contend.routes.dumps.readers import LFTS
from contend.routes.saving import save
from contend.routes.tables import ForwardingTables

_ENGINES = {
    "minhop": "OpenSM's minhop: balanced shortest paths",
    "updn": "OpenSM's updn: shortest paths that never go up after down",
    "dnup": "OpenSM's dnup: shortest paths that never go down after up",
    "dor": "OpenSM's dor: dimension order on meshes and tori",
    "ftree": "OpenSM's ftree: shift patterns without congestion on regular fat trees",
    "nue": "OpenSM's nue: balanced, free of deadlock with however few virtual lanes",
    "lash": "OpenSM's lash: shortest paths, free of deadlock by virtual lanes",
    "sssp": "OpenSM's sssp: balanced over the whole fabric",
    "dfsssp": "OpenSM's dfsssp: sssp, free of deadlock by virtual lanes",
}
# Which give every path a service level, and so a lane; no dump tells them.
_OF_LANES = ("lash", "dfsssp", "nue")
_MOST_LMC = 7
_USUAL_LIMIT = 1800.0

# A line of OpenSM's log: level (1: error, 2: information) and what follows function and number.
_LOGGED = re.compile(r"\] 0x0([12]) -> (?:\w+: )?(?:ERR \w+: )?(.*\w.*)")


@dataclass(frozen=True)
class Order:
    """What is asked of OpenSM."""

    text: str
    """Order as it was given."""
    engine: str
    """Name of the engine."""
    lmc: int = 0
    """Logarithm of the number of LIDs that every host gets: 2^lmc."""
    roots: Path | None = None
    """File with one GUID of a root switch on each line, or None."""
    limit: float = _USUAL_LIMIT
    """Seconds after which the engine is given up."""

    @classmethod
    def parse(cls, text: str) -> Order:
        """Reads ``ENGINE[,lmc=N][,roots=FILE][,limit=SECONDS]``.

        Raises:
            UsageError: when an engine or option is not known or a value is out of range.
        """
        engine, values = options.split(text, ("lmc", "roots", "limit"))
        if engine not in _ENGINES:
            known = ", ".join(_ENGINES)
            raise UsageError(
                f"OpenSM has no engine {engine!r} among {known}{nearest(engine, _ENGINES)}"
            )
        lmc = values.get("lmc", "0")
        if not re.fullmatch(r"[0-9]", lmc) or int(lmc) > _MOST_LMC:
            raise UsageError(f"opensm:{text}: lmc is a number from 0 to {_MOST_LMC}, not {lmc!r}")
        limit = values.get("limit", str(_USUAL_LIMIT))
        if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", limit) or float(limit) == 0:
            raise UsageError(f"opensm:{text}: limit is a number of seconds, not {limit!r}")
        roots = Path(values["roots"]) if "roots" in values else None
        return cls(text, engine, int(lmc), roots, float(limit))


def engine_names() -> dict[str, str]:
    """OpenSM's engines with what they do in one line."""
    return dict(_ENGINES)


def route(fabric: Fabric, order: str, *, start: Start = start_program) -> Fabric:
    """The fabric with the LIDs and routes that OpenSM gives it.

    Args:
        fabric: its own LIDs are not used.
        order: engine and options, ``ftree`` or ``minhop,lmc=2``; see `Order.parse`.
        start: starts a process.

    Raises:
        UsageError: when the order can't be understood or the fabric is too large for InfiniBand.
        MissingError: when OpenSM or ibsim are not installed.
        ShortfallError: when OpenSM fails, refuses the fabric or takes too long.
    """
    request = Order.parse(order)
    if fabric.hosts == 0:
        raise UsageError(f"{fabric.name} has no host for OpenSM to run on")
    if fabric.hosts << request.lmc > LARGEST_LID - fabric.switches:
        raise UsageError(
            f"{fabric.hosts} hosts with {1 << request.lmc} LIDs each and {fabric.switches} "
            f"switches need more than {LARGEST_LID} LIDs"
        )
    arguments = ["-l", str(request.lmc)] if request.lmc else []
    with scratch_folder("contend-opensm") as folder:
        # Tables do not go by rates; ibsim is spared those that it cannot read.
        alike = fabric.replace(rates=("4xHDR",) * len(fabric.rates))
        save(alike, folder / "fabric.net", "ibsim")
        if request.roots is not None:
            roots = port_guids(fabric)[1][options.read_roots(request.roots, fabric)]
            named = "".join(f"0x{guid:016x}\n" for guid in roots.tolist())
            (folder / "roots").write_text(named, encoding="ascii")
            arguments += ["-a", "roots"]
        run(fabric, request.engine, arguments, folder, request.limit, start)
        _assert_engine(folder / "opensm.log", request.engine)
        return _with_tables(fabric, request, folder / "opensm-lfts.dump")


def _assert_engine(log: Path, engine: str) -> None:
    """Raises ShortfallError unless this engine made the tables: OpenSM falls back silently."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    if re.search(rf"\b{re.escape(engine)} tables configured", text):
        return
    reasons = _reasons(text)
    why = f": {'; '.join(reasons)}" if reasons else ""
    raise ShortfallError(f"OpenSM's engine {engine} can't route this fabric{why}")


def _reasons(log: str) -> list[str]:
    """Why an engine gave up: the last errors before the fallback, else the last information."""
    lines_since_start = log.rpartition("Setting IS_SM on port")[2].partition("tables configured")[0]
    logged = [_LOGGED.search(line) for line in lines_since_start.split("\n")[1:-1]]
    lines = {level: [m[2].strip(".: ") for m in logged if m and m[1] == level] for level in "12"}
    # The last error, that there are no tables, says nothing of why.
    errors = [line for line in lines["1"] if "cannot build" not in line]
    return errors[-2:] or lines["2"][-1:]


def _with_tables(fabric: Fabric, order: Order, dump: Path) -> Fabric:
    host_guid, switch_guid = port_guids(fabric)
    ports, owner = _read_dump(dump, fabric, switch_guid)
    host_lid = _first_lids(host_guid, owner)
    if (host_lid == 0).any():
        host = int(np.flatnonzero(host_lid == 0)[0])
        raise ShortfallError(
            f'OpenSM gave no LID to host "{fabric.host_name[host]}", which it can\'t reach'
        )
    routed = fabric.replace(
        host_lid=host_lid,
        host_lmc=np.full(fabric.hosts, order.lmc, dtype=np.uint8),
        switch_lid=_first_lids(switch_guid, owner),
        routes=ForwardingTables(
            ports, lane_by_pair=order.engine in _OF_LANES, engine=f"opensm:{order.text}"
        ),
    )
    return with_other_lids(routed, ports.shape[1])


def _first_lids(guids: NDArray[np.uint64], owner: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The lowest LID that each GUID owns, shape [guids]; 0 where it owns none."""
    owners, lids = np.unique(owner, return_index=True)
    position = np.minimum(np.searchsorted(owners, guids), len(owners) - 1)
    return np.where(owners[position] == guids, lids[position], 0).astype(np.uint32)


def _read_dump(
    path: Path, fabric: Fabric, switch_guid: NDArray[np.uint64]
) -> tuple[NDArray[np.uint16], NDArray[np.uint64]]:
    """Ports [switches, addresses] and the port GUID [addresses] that owns every LID."""
    columns = LFTS.read(open_chunks(str(path)), path.name)
    row_of = {guid: row for row, guid in enumerate(columns.switch_guid.tolist())}
    rows = [row_of.get(guid, -1) for guid in switch_guid.tolist()]
    if -1 in rows:
        name = fabric.switch_label[rows.index(-1)]
        raise ShortfallError(
            f'OpenSM made no table for switch "{name}", which it cannot reach from the first host; '
            "contend fabric check lists the parts of a fabric"
        )
    return columns.ports[rows], columns.owner_guid


_PACKAGES = "opensm ibsim-utils infiniband-diags"
# Debian keeps daemons where an ordinary user's PATH does not look.
_MORE_FOLDERS = ("/usr/sbin", "/usr/local/sbin")
_LIBRARY = "umad2sim/libumad2sim.so"
# Log levels: errors, information and the dumps of tables.
_DUMP_ROUTES = "0x43"
_READY = b"simulator ready"
_PATIENCE = 0.02
_LOOK_AGAIN = 0.2
_GRACE = 0.5

Start = Callable[[Sequence[str], Path, Mapping[str, str], IO[bytes]], Program]
"""Starts a program: command, folder to run in, environment, where its output goes."""


def run(
    fabric: Fabric, engine: str, arguments: Sequence[str], folder: Path, limit: float, start: Start
) -> None:
    """Runs OpenSM once on the folder's ``fabric.net``; leaves its log and dumps in the folder.

    Neither process outlives the call. Instances are told apart by the folder's name, so that any
    number can run side by side.

    Raises:
        MissingError: when a program is not installed.
        ShortfallError: when one of them ends early or the limit, in seconds, is over.
    """
    simulator, manager, library = opensm_programs()
    deadline = time.monotonic() + limit
    # A remote simulator that the user's environment names must not take the place of ours.
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("IBSIM_")}
    environment = {
        **inherited,
        "IBSIM_SOCKNAME": folder.name,
        "SIM_HOST": host_id(0),
        "OSM_TMP_DIR": str(folder),
        "OSM_CACHE_DIR": str(folder),
    }
    with _running(start, _simulate(simulator, fabric), folder, environment, "ibsim") as simulation:
        _await_ready(simulation, folder / "ibsim.out", deadline, limit)
        # An empty configuration, so that the machine's own in /etc is not read.
        (folder / "opensm.conf").touch()
        command = [manager, "-F", "opensm.conf", "-R", engine, "-o"]
        command += ["-D", _DUMP_ROUTES, "-f", "opensm.log", *arguments]
        with_device = {**environment, "LD_PRELOAD": library}
        with _running(start, command, folder, with_device, "opensm") as management:
            _await_end(management, simulation, engine, deadline, limit)


def opensm_programs() -> tuple[str, str, str]:
    """The simulator of networks, OpenSM, and the library that joins them.

    Raises:
        MissingError: when one of them is not installed.
    """
    return find_program("ibsim"), find_program("opensm"), _simulated_device()


def find_program(name: str) -> str:
    """A program of the InfiniBand tools: from PATH, or where daemons are kept.

    Raises:
        MissingError: when it is not installed.
    """
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_MORE_FOLDERS])
    program = shutil.which(name, path=path)
    if program is None:
        raise MissingError(f"no program {name}; on Debian: apt install {_PACKAGES}")
    return program


def _simulated_device() -> str:
    """The library that stands in for the kernel's InfiniBand device."""
    for root in (Path("/usr/lib"), Path("/usr/lib64"), Path("/usr/local/lib")):
        for pattern in (_LIBRARY, f"*/{_LIBRARY}"):
            if libraries := sorted(root.glob(pattern)):
                return str(libraries[0])
    raise MissingError(f"no library {_LIBRARY}; on Debian: apt install {_PACKAGES}")


def _simulate(program: str, fabric: Fabric) -> list[str]:
    """The command that plays the fabric: no console, and room for this one."""
    ports = int(fabric.switch_ports.sum()) + fabric.switches + 2 * fabric.hosts
    room = {
        "-N": fabric.hosts + fabric.switches + 1,
        "-S": fabric.switches + 1,
        "-P": ports + 1,
        "-L": LARGEST_LID + 1,
    }
    sizes = [text for flag, size in room.items() for text in (flag, str(size))]
    return [program, "-s", "-n", *sizes, "fabric.net"]


@contextmanager
def _running(
    start: Start, command: Sequence[str], folder: Path, environment: Mapping[str, str], name: str
) -> Iterator[Program]:
    """A program that is ended, at the latest, when the block is left, however it is left."""
    with (folder / f"{name}.out").open("wb") as output:
        process = start(command, folder, environment, output)
        try:
            yield process
        finally:
            end_kindly(process, _GRACE)


def _await_ready(process: Program, output: Path, deadline: float, limit: float) -> None:
    while True:
        # In this order: the last output is in the file once the process has ended.
        ended = process.poll() is not None
        if _READY in (text := output.read_bytes()) and time.monotonic() <= deadline:
            return
        if ended:
            lines = text.decode(errors="replace").split("\n")
            last = next(
                (line.strip() for line in reversed(lines) if line.strip()), "without a message"
            )
            raise ShortfallError(f"ibsim ended before the fabric was up: {last}")
        if time.monotonic() > deadline:
            raise ShortfallError(f"ibsim did not bring the fabric up within {limit:g} s")
        time.sleep(_PATIENCE)


def _await_end(
    process: Program,
    simulation: Program,
    engine: str,
    deadline: float,
    limit: float,
) -> None:
    while True:
        status = wait_for(process, _LOOK_AGAIN)
        if status is not None:
            if status < 0:
                raise ShortfallError(f"OpenSM {_end_of(process)} before its tables were done")
            return
        # Without the fabric OpenSM would wait on, and retry, for hours.
        if simulation.poll() is not None:
            raise ShortfallError(f"ibsim {_end_of(simulation)} while OpenSM ran")
        if time.monotonic() > deadline:
            raise ShortfallError(
                f"OpenSM's engine {engine} was not done within {limit:g} s; "
                f"opensm:{engine},limit=SECONDS gives it more"
            )


def _end_of(process: Program) -> str:
    """How a process that is no more ended."""
    status = process.returncode
    return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
