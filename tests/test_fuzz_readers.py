"""Every reader bears damaged files, and the driver that says so finds readers that do not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from contend.errors import UsageError
from contend.fabric import Fabric, open_chunks, read_topology
from contend.fabric.formats import graph_elements, lldp, lst
from contend.fabric.formats.slurm import topology_conf
from contend.fabric.formats.topology import READERS
from contend.loading import load, load_topology
from contend.placement import parse_jobs
from contend.routes import KINDS, ForwardingTables, adopt, save
from contend.routes.dumps.readers import TABLE_READERS
from contend.routes.saving import content as content_of
from fuzzing import TookTooLong, drive
from sample_fabrics import DATA, two_leaves

ROUNDS = 600

SEEDS = {
    "contend's .fabric": ["two-leaves.fabric"],
    "ibdiagnet .db_csv": ["tiny.db_csv"],
    "ibdiagnet .lst": ["tiny.opensm-subnet.lst"],
    "LLDP output": [
        *("lldp/leaf1.json", "lldp/spine2.json0", "lldp_tools/leaf1.lldpctl.txt"),
        *("lldp_tools/leaf1.nvue.json", "lldp_tools/leaf1.eos.json"),
    ],
    "GraphML": ["tiny.graphml"],
    "iblinkinfo": ["tiny.iblinkinfo", "tiny.lines.iblinkinfo"],
    "Slurm's topology.conf": ["tiny.topology.conf", "tiny.blocks.topology.conf"],
    "Slurm's topology.yaml": ["tiny.topology.yaml"],
    "ORCS .dot": ["tiny.dot"],
    "plan of cables": ["tiny.ptm.dot", "tiny.ndt"],
    "ibdiagnet .net_dump": ["tiny.net_dump"],
    "ibsim net file": ["tiny.net"],
    "ibnetdiscover": ["tiny.ibnetdiscover"],
    "dumps of OpenSM, dump_fts or dump_lfts.sh": ["tiny.opensm-lfts.dump", "tiny.dump_fts"],
    "fdbs of OpenSM or ibdiagnet": ["tiny.opensm.fdbs"],
    "ibdiagnet's tables of adaptive routing (.far)": ["tiny.far"],
}


def seeds(kind: str) -> list[bytes]:
    return [b"".join(open_chunks(str(DATA / name))) for name in SEEDS[kind]]


def in_pieces(content: bytes) -> Iterable[bytes]:
    """Cut at places that depend on the content only."""
    size = 1 + sum(content[:50]) % 3000
    return (content[start : start + size] for start in range(0, len(content), size))


def write_everything(fabric: Fabric) -> None:
    """What could be read can be written, or is refused."""
    for kind in KINDS:
        with suppress(UsageError):
            sum(map(len, content_of(fabric, kind)))


def test_every_reader_is_driven() -> None:
    kinds = set(READERS) | set(TABLE_READERS)
    assert set(SEEDS) == kinds, "name a small file of tests/data for each in SEEDS"


@pytest.mark.parametrize("kind", READERS)
def test_topologies(kind: str) -> None:
    def read(content: bytes) -> None:
        READERS[kind].recognises(content)
        topology = read_topology(READERS[kind], in_pieces(content), "fuzz")
        fabric = topology.fabric
        assert fabric.core.hosts == fabric.hosts
        if topology.ports is not None:
            fabric = fabric.replace(routes=ForwardingTables(topology.ports))
        write_everything(fabric)

    assert drive(read, seeds(kind), rounds=ROUNDS) == []


@pytest.mark.parametrize("kind", TABLE_READERS)
def test_tables(kind: str) -> None:
    fabric = load_topology(str(DATA / "tiny.ibnetdiscover"))

    def read(content: bytes) -> None:
        TABLE_READERS[kind].recognises(content)
        columns = TABLE_READERS[kind].read(in_pieces(content), "fuzz")
        write_everything(adopt(fabric, columns, "fuzz"))

    assert drive(read, seeds(kind), rounds=ROUNDS) == []


_JOBS = ("squeue.json.xz", "scontrol.txt", "scontrol.oneliner.txt", "squeue.csv")


def test_jobs() -> None:
    files = [b"".join(open_chunks(str(DATA / "slurm" / name))) for name in _JOBS]
    assert drive(lambda content: parse_jobs(in_pieces(content), "x"), files, rounds=ROUNDS) == []


def test_the_driver_finds_a_reader_of_jobs_without_a_look_at_ranges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def expanded(name: str, *_: object) -> list[str]:
        return [str(int(number)) for number in re.findall(r"\[(.*?)-", name)] or [name]

    monkeypatch.setattr("contend.placement.job_list.expand", expanded)
    # It also takes squares of times, which are not what is looked for here.
    monkeypatch.setattr("fuzzing.SECONDS", 0.5)
    files = [b"".join(open_chunks(str(DATA / "slurm" / name))) for name in _JOBS]
    faults = drive(lambda content: parse_jobs([content], "x"), files, rounds=ROUNDS)
    assert ValueError in {type(fault.error) for fault in faults}


@pytest.mark.parametrize("suffix", ["fabric", "dot.gz", "ibnetdiscover.xz", "ibsim.zst"])
def test_whole_files_compressed_or_not(suffix: str, tmp_path: Path) -> None:
    seed = tmp_path / f"seed.{suffix}"
    save(two_leaves(), seed)
    damaged = tmp_path / "damaged"

    def read(content: bytes) -> None:
        damaged.write_bytes(content)
        write_everything(load(str(damaged)))

    assert drive(read, [seed.read_bytes()], rounds=ROUNDS // 2) == []


# Planted faults, each a check that a reader leaves out: where, what stands there instead, and what
# escapes then.
PLANTED: dict[str, tuple[Any, str, Any, type[Exception]]] = {
    # LIDs index a table without a look at its size.
    "ibdiagnet .lst": (lst, "unicast", list(range(0x100)).__getitem__, IndexError),
    # A range of names is taken apart without a look at what stands in its bracket.
    "Slurm's topology.conf": (
        topology_conf,
        "expand",
        lambda name, *_: [str(int(number)) for number in re.findall(r"\[(.*?)-", name)] or [name],
        ValueError,
    ),
    # What an object should hold is taken for one.
    "LLDP output": (lldp, "only", lambda value: value[0], KeyError),
    # Numbers are read without a look at whether they are some.
    "GraphML": (
        graph_elements.GraphNode,
        "number",
        lambda node, name, most=0: int(node.text(name) or "0", 0),
        ValueError,
    ),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_the_driver_finds_an_error_that_is_no_contend_error(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, name, planted, error = PLANTED[kind]
    monkeypatch.setattr(where, name, planted)
    faults = drive(lambda content: READERS[kind].read([content], "x"), seeds(kind), rounds=ROUNDS)
    assert error in {type(fault.error) for fault in faults}


def test_the_driver_finds_a_reader_that_asks_for_what_the_file_claims() -> None:
    def read(content: bytes) -> Any:
        return bytearray(int.from_bytes(content[65:73], "little") % (1 << 45))

    faults = drive(read, seeds("contend's .fabric"), rounds=ROUNDS)
    assert MemoryError in {type(fault.error) for fault in faults}


def test_the_driver_finds_a_reader_that_never_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzzing.SECONDS", 0.2)

    def read(content: bytes) -> None:
        while not content.endswith(b"END_LINKS\n"):
            pass

    faults = drive(read, seeds("ibdiagnet .db_csv"), rounds=2)
    assert {type(fault.error) for fault in faults} == {TookTooLong}
