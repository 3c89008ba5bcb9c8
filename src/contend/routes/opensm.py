"""The real OpenSM, run on ibsim: InfiniBand's own routing engines, whatever the fabric."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contend.errors import ShortfallError, UsageError
from contend.fabric import LARGEST_LID, Fabric, open_chunks, port_guids
from contend.process import scratch_folder, start_program
from contend.routes import lfts, options
from contend.routes.opensm_process import Start, run
from contend.routes.saving import save
from contend.routes.tables import ForwardingTables
from contend.units import nearest

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
_MOST_LMC = 7
_USUAL_LIMIT = 1800.0

# A line of OpenSM's log: level (1: error, 2: information) and what follows function and number.
_LOGGED = re.compile(r"\] 0x0([12]) -> (?:\w+: )?(?:ERR \w+: )?(.*\w.*)")


@dataclass(frozen=True)
class Order:
    """What is asked of OpenSM.

    Attributes:
        text: the order as it was given.
        engine: the engine's name.
        lmc: every host gets 2^lmc LIDs.
        roots: a file with one GUID of a root switch on each line, or None.
        limit: seconds after which it is given up.
    """

    text: str
    engine: str
    lmc: int = 0
    roots: Path | None = None
    limit: float = _USUAL_LIMIT

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
        save(fabric, folder / "fabric.net", "ibsim")
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
    return fabric.replace(
        host_lid=host_lid,
        host_lmc=np.full(fabric.hosts, order.lmc, dtype=np.uint8),
        switch_lid=_first_lids(switch_guid, owner),
        routes=ForwardingTables(ports, engine=f"opensm:{order.text}"),
    )


def _first_lids(guids: NDArray[np.uint64], owner: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The lowest LID that each GUID owns, shape [guids]; 0 where it owns none."""
    owners, lids = np.unique(owner, return_index=True)
    position = np.minimum(np.searchsorted(owners, guids), len(owners) - 1)
    return np.where(owners[position] == guids, lids[position], 0).astype(np.uint32)


def _read_dump(
    path: Path, fabric: Fabric, switch_guid: NDArray[np.uint64]
) -> tuple[NDArray[np.uint16], NDArray[np.uint64]]:
    """Ports [switches, addresses] and the port GUID [addresses] that owns every LID."""
    columns = lfts.read(open_chunks(str(path)), path.name)
    row_of = {guid: row for row, guid in enumerate(columns.switch_guid.tolist())}
    rows = [row_of.get(guid, -1) for guid in switch_guid.tolist()]
    if -1 in rows:
        name = fabric.switch_name[rows.index(-1)]
        raise ShortfallError(
            f'OpenSM made no table for switch "{name}", which it cannot reach from the first host; '
            "contend fabric check lists the parts of a fabric"
        )
    return columns.ports[rows], columns.owner_guid
