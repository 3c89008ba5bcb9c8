"""Every kind of input that contend reads: what is mutated, and where it stands."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from built_records import ALLREDUCE, SEND, Rank, leave_records
from campaign import reading
from campaign.mutations import ARRAY, BINARY, JSON, PACKED, TABLE, TEXT, WORDS, Mutation
from campaign.reading import DATA, KEPT, RANKS
from contend.base.errors import UsageError
from contend.base.files import json_text
from contend.cure import read_rules
from contend.explanation import explain
from contend.fabric.formats import fabric_file
from contend.lab.measurement.bisect import read_destinations
from contend.lab.runs import LaunchRecord, Run, RunRecord
from contend.lab.studies import shipped_plans
from contend.lab.studies.plan_file import find_plan
from contend.prediction import Calibration, Parameter, SizeClass
from contend.profiling import merge, read_record
from contend.routes import load
from contend.routes.options import read_roots
from contend.traffic.placement import ListFormat, list_hosts, write_list
from contend.traffic.placement import parse as parse_placement
from nccl_outputs import printed, written
from sample_files import Launch


@dataclass(frozen=True)
class Kind:
    """A kind of input."""

    name: str
    """Name in the table."""
    seeds: Sequence[bytes]
    """Whole inputs."""
    own: dict[str, Mutation]
    """Mutations that know its structure."""
    read: Callable[[Path], object]
    """What contend does with one; it lies at the path, or is the text in it."""
    place: str = "input"
    """Place of the file within a folder that `base` fills."""
    base: Callable[[Path], None] | None = None
    """Makes the folder around it; returns nothing."""
    command: tuple[str, ...] = ()
    """Words of a command line that reads it too, PATH standing for the folder or file."""
    is_text: bool = False
    """Whether the input is a word of a command line and not a file."""


def _seed(*names: str) -> list[bytes]:
    return [(DATA / name).read_bytes() for name in names]


@cache
def _exported() -> bytes:
    """What an exporter of switches' counters says of the same network."""
    metric = "infiniband_switch_port_transmit_data_bytes_total"
    return b"".join(
        f'{metric}{{guid="0x{guid:016x}",port="{port}",switch="s"}} {port}e9 {port}000\n'.encode()
        for guid in reading.counted().switch_guid.tolist()
        for port in range(1, 9)
    )


def _archives() -> list[bytes]:
    """A .tar and a .zip of what ibdiagnet leaves."""
    names = "tiny.net_dump", "tiny.opensm.fdbs", "tiny.opensm-subnet.lst"
    tarred, zipped = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tarred, mode="w") as tar, zipfile.ZipFile(zipped, "w") as archive:
        for name, content in zip(names, _seed(*names), strict=True):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
            place = zipfile.ZipInfo(name)
            archive.writestr(place, content, zipfile.ZIP_DEFLATED)
    return [tarred.getvalue(), zipped.getvalue()]


def _copied(name: str, to: str = "") -> Callable[[Path], None]:
    return lambda folder: shutil.copytree(DATA / name, folder / to, dirs_exist_ok=True) and None


def _launched(folder: Path) -> None:
    Run.create(folder / "run", RunRecord("alltoall", launches=(LaunchRecord(0, 3),)))


def _beside(folder: Path) -> None:
    (folder / "seated.fabric").write_bytes(b"".join(fabric_file.write(reading.seated())))
    (folder / "leaves.conf").write_text("SwitchName=leaf1 Nodes=n[1-3]\nSwitchName=leaf2 Nodes=m\n")


def _merged(folder: Path) -> None:
    leave_records(folder / "profile", _ranks())
    merge(folder / "profile", run=_no_program)


def _ranks() -> list[Rank]:
    ranks = [Rank(number, 2) for number in range(2)]
    for rank in ranks:
        rank.cell(SEND)
        rank.collective(10, 20, rank.cell(ALLREDUCE))
    return ranks


def _no_program(*_: Any, **__: Any) -> Any:
    raise UsageError("no program is started here")


@cache
def _profile_json() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        _merged(Path(folder))
        return (Path(folder) / "profile" / "profile.json").read_bytes()


def made_calibration() -> bytes:
    nothing, some = Parameter.exactly(0.0), Parameter(1e-6, 0.9e-6, 1.1e-6)
    sizes = tuple(
        SizeClass(
            up_to=up_to,
            eager=up_to is not None,
            latency_s=some,
            overhead_s=nothing,
            gap_s=nothing,
            gap_per_byte_s=some,
        )
        for up_to in (1024.0, None)
    )
    return json_text(
        Calibration(library="Open MPI 4.1.4", wire_Bps=1e6, between=sizes, within=sizes)
    )


_RULES = b"""version = 1
mpi = "Open MPI 4.1.4"
nonblocking = true
[[rule]]
# measured
ranks = [2, 64]
ranks_per_host = [1, 4]
bytes = [0, 4096]
schedule = "shift"
[[rule]]
ranks = [2, 9]
schedule = "linear"
"""


def _npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


_SPECIFICATIONS = (
    *(b"xgft:2;3,4;1,2", b"crossbar:8", b"fig1", b"random:8,3,2,1", b"torus:3x3,1", b"mesh:3x4,2"),
    *(b"hypercube:3", b"dragonfly:2,4,2", b"slimfly:5", b"hyperx:3x3,2", b"clos:4", b"benes:4"),
    *(b"kary:2,3", b"xgft:3;2,2,2;1,2,2", b"rails:2,2,2,4;1,1;2,2", b"rails:1,2,2,0"),
)
_PATTERNS = (
    *(b"bisect", b"bisect:two-way", b"permutation", b"uniform", b"localised:4,50%", b"hot-spot:5%"),
    *(b"hot-spot:2", b"alltoall", b"shift:3", b"shifts", b"dissemination", b"tree", b"double-tree"),
    *(b"neighbour:2", b"halo:3x4", b"halo:2d,open", b"transpose", b"bisect@50% & shift:1"),
)
_LINES = (
    b"fabric\nshow\nxgft:2;3,4;1,2",
    b"fabric\ncheck\nfig1",
    b"fabric\nhosts\nxgft:2;3,4;1,2\n--format\nslurm\n--ranks-per-host\n2",
    b"simulate\nxgft:2;3,4;1,2\n--pattern\nshift:3\n--samples\n4\n--seed\n2",
    b"simulate\nfig1\n--ranks\n8\n--placement\nrandom\n--samples\n3\n--threads\n1",
    b"fabric\ndiff\nfig1\ncrossbar:8",
    b"fabric\nfailures\nxgft:2;2,2;1,2\n--samples\n2",
    b"fabric\nengines\ncrossbar:4\n--samples\n2",
)


def _fabric_kind(name: str, *seeds: str) -> Kind:
    own = JSON if seeds[0].endswith("json") else BINARY if seeds[0].endswith(".fabric") else TEXT
    content = _seed(*seeds)
    if own is BINARY:
        import zstandard

        nodes = DATA / "ibsim" / "aggregation-nodes"
        newest = load(f"{nodes}.ibnetdiscover", routes=f"{nodes}.dump_fts")
        content.append(b"".join(fabric_file.write(newest)))
        content = [zstandard.ZstdDecompressor().decompressobj().decompress(c) for c in content]
    return Kind(name, content, own, reading.fabric, command=("fabric", "show", "PATH"))


def kinds() -> Iterator[Kind]:
    """All kinds."""
    lldp = "lldp/leaf1.json", "lldp/spine1.json", "lldp/leaf2.json"
    yield _fabric_kind("contend's .fabric", "two-leaves.fabric")
    yield _fabric_kind("ibdiagnet .db_csv", "tiny.db_csv")
    yield _fabric_kind("ibdiagnet .lst", "tiny.opensm-subnet.lst")
    yield _fabric_kind("LLDP JSON", *lldp)
    others = "lldp_tools/leaf1.nvue.json", "lldp_tools/leaf1.eos.json"
    yield _fabric_kind("LLDP JSON of NVUE and EOS", *others)
    yield _fabric_kind("LLDP text", "lldp_tools/leaf1.lldpctl.txt")
    yield _fabric_kind("GraphML", "tiny.graphml")
    yield _fabric_kind("iblinkinfo", "tiny.iblinkinfo", "tiny.lines.iblinkinfo")
    yield _fabric_kind("topology.conf", "tiny.topology.conf", "tiny.blocks.topology.conf")
    above = [b"include leaves.conf # both\nSwitchName=top Switches=leaf[1-2]\n"]
    yield Kind("topology.conf with others", above, TEXT, reading.fabric, base=_beside)
    yield _fabric_kind("topology.yaml", "tiny.topology.yaml")
    yield _fabric_kind("plans of cables", "tiny.ptm.dot", "tiny.ndt")
    yield _fabric_kind("ibdiagnet .net_dump", "tiny.net_dump")
    yield _fabric_kind("ORCS .dot", "tiny.dot")
    yield _fabric_kind("ibsim net file", "tiny.net")
    yield _fabric_kind("ibnetdiscover", "tiny.ibnetdiscover", "ibsim/rates.ibnetdiscover")
    packed = [gzip.compress(content, mtime=0) for content in _seed("tiny.net", "tiny.dot")]
    yield Kind("archives", _archives(), PACKED, reading.fabric, command=("fabric", "show", "PATH"))
    yield Kind("compressed fabrics", [*packed, *_seed("tiny.net")], PACKED, reading.fabric)
    dumps = "tiny.opensm-lfts.dump", "tiny.dump_fts"
    network = str(DATA / "tiny.ibnetdiscover")
    routed = ("fabric", "check", network, "--routes", "PATH")
    yield Kind("lfts tables", _seed(*dumps), TEXT, reading.tables, command=routed)
    yield Kind("fdbs tables", _seed("tiny.opensm.fdbs"), TEXT, reading.tables, command=routed)
    yield Kind("far tables", _seed("tiny.far"), TEXT, reading.tables, command=routed)
    counters = _seed("counters/plain.perfquery", "counters/fig1.data.ibqueryerrors")
    beside = "--counters", "PATH", "--samples", "2"
    counted = ("simulate", reading.COUNTED, "--route", "minhop", *beside)
    yield Kind("port counters", [*counters, _exported()], TEXT, reading.counters, command=counted)
    listed = lzma.decompress((DATA / "slurm" / "squeue.json.xz").read_bytes())
    records = _seed("slurm/scontrol.txt", "slurm/scontrol.oneliner.txt", "slurm/squeue.csv")
    table = b" JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n"
    records.append(
        table + b" 1 batch a b me R 0:02 2 host[1-2]\n 2 batch c me PD 0:00 2 (No, so)\n"
    )
    long = table.replace(b"ST TIME", b"STATE TIME TIME_LIMI").replace(b" JOBID", b"Fri\n JOBID")
    records.append(long + b" 3_[4] gpu d me RUNNING 1-0:00:01 UNLIMITED 1 host[3,5-6]\n")
    running = ("jobs", "fig1", "PATH", "--samples", "2")
    yield Kind("records of jobs", records, TEXT, reading.jobs, command=running)
    yield Kind("JSON of jobs", [listed], JSON, reading.jobs, command=running)
    seated = reading.seated()
    entries = list_hosts(seated, parse_placement("linear", seated))
    files = [write_list(entries, form).encode() for form in ListFormat]
    bound = "".join(f"{name}:2 binding=user:0,1\n" for name in seated.host_name[:6])
    files += [bound.encode() + b"# all\n", ",".join(seated.host_name[:4]).encode()]
    seats = ("simulate", "seated.fabric", "--placement", "file:PATH", "--samples", "2")
    yield Kind("host files", files, TEXT, reading.host_file, base=_beside, command=seats)
    names = [host.encode() for host in reading.small().host_name]
    lists = [b"node[01-04,7],login1", names[0], names[1] + b"," + names[2], b"n[1-3]x[1-2],b"]
    yield Kind("host lists", lists, WORDS, reading.host_list, is_text=True)
    rounds = [
        b"source,target\n0,1\n1,2\n2,0\n",
        b"round,source,target,bytes\n0,1,2,10\n1,2,3,20\n0,5,4,1\n",
    ]
    sent = ("simulate", "xgft:2;3,4;1,2", "--pattern", "file:PATH", "--samples", "2")
    yield Kind("pattern .csv", rounds, TEXT, reading.pattern_file, "input.csv", command=sent)
    matrix = np.arange(RANKS**2, dtype=np.int64).reshape(RANKS, RANKS)
    arrays = [_npy(matrix), _npy(np.eye(4)), _npy(matrix[:5, :5].astype("f4"))]
    yield Kind("pattern .npy", arrays, ARRAY, reading.pattern_file, "input.npy", command=sent)
    graphs = _seed("rails/server.graph.xml")
    yield Kind("NCCL's graphs", graphs, TEXT, reading.pattern_file, "graph.xml", command=sent)
    yield Kind("pattern specifications", _PATTERNS, WORDS, reading.pattern, is_text=True)
    yield Kind("generator specifications", _SPECIFICATIONS, WORDS, reading.generator, is_text=True)
    engines = (
        b"minhop",
        b"dmodk",
        b"updn",
        b"contend:lanes=2",
        b"ecmp:3",
        b"dor",
        b"contend,lanes=1",
    )
    yield Kind("engine specifications", engines, WORDS, reading.engine, is_text=True)
    sizes = b"64K", b"1,2,4K", b"1:1M", b"1-4,8", b"5%", b"12.5GB/s", b"4xHDR", b"90s", b"1.5h"
    yield Kind("sizes, numbers, rates, times", sizes, WORDS, reading.units, is_text=True)
    yield Kind("command lines", _LINES, WORDS, reading.command_line, is_text=True)
    lines = _seed("rails/servers.rails", "rails/server.topo")
    far = [re.sub(rb"PXB|PIX|NODE", b"SYS", lines[1], count=count) for count in (2, 0)]
    lines += [lines[0].rpartition(b"*")[0], *far]
    told = ("fabric", "check", "rails:2,2,4,2", "--rails", "PATH")
    yield Kind("rails of servers", lines, TEXT, reading.rails, command=told)
    topology = _seed("rails/server.nccl.xml")
    yield Kind("NCCL's topology", topology, TEXT, reading.rails, command=told)
    switches = [b"".join(b"0x%016x\n" % guid for guid in reading.small().switch_guid.tolist()[:3])]
    yield Kind("root files", switches, TEXT, lambda path: read_roots(path, reading.small()))
    dead = [name.encode() for name in reading.small().switch_name]
    gone = [b"# dead\n" + dead[0] + b"\n", names[0] + b"\n" + names[1] + b"\n", dead[-1] + b"\n"]
    yield Kind("files of what has died", gone, TEXT, reading.dead)
    orders = [b"1 0 3 2\n- 2 1 -\n", b"# drawn\n1 2 3 0\n"]
    yield Kind("destinations of a run", orders, TEXT, read_destinations)
    plans = [find_plan(name).read_bytes() for name in shipped_plans()]
    yield Kind(
        "plans",
        [(KEPT / "small.toml").read_bytes(), *plans],
        TEXT,
        reading.plan,
        "plan.toml",
    )
    alltoall = KEPT / "alltoall"
    runs = [(alltoall / "run.json").read_bytes()]
    shown = ("report", "PATH")
    yield Kind(
        "run.json",
        runs,
        JSON,
        reading.run,
        "run.json",
        _copied("kept/alltoall"),
        command=shown,
    )
    tables = [(alltoall / "samples.parquet").read_bytes()]
    place = "samples.parquet"
    yield Kind(place, tables, TABLE, reading.run, place, _copied("kept/alltoall"), command=shown)
    launch = [
        Launch(2).cell([1e-3, 2e-3], algorithm="linear", bytes=1024, counts="even").content(),
        Launch(3, name="sort").cell(np.full(7, 1e-3), algorithm="a", bytes=0).content(),
        Launch(3)
        .cell(np.full(7, 1e-3), algorithm="a", bytes=0, durations={"barriers_s": 0.1})
        .cell([], reason="skipped", verified=None, algorithm="b", bytes=8)
        .cell(np.full(7, 1e-3), algorithm="a", bytes=9, instants={"counted": 0.5}, late=[1, 2])
        .content(done=False)[:-20],
    ]
    yield Kind(
        "samples of a launch", launch, BINARY, reading.launch, "run/launch-000.samples", _launched
    )
    run = min((KEPT / "simulated" / "runs").iterdir())
    place = f"study/runs/{run.name}"
    base = _copied("kept/simulated", "study")
    cell = [(run / "run.json").read_bytes()]
    yield Kind("cells of a study", cell, JSON, reading.study, f"{place}/run.json", base)
    samples = [(run / "run.npz").read_bytes()]
    yield Kind("samples of a study", samples, ARRAY, reading.study, f"{place}/run.npz", base)
    records = [rank.content() for rank in _ranks()]
    yield Kind("records of ranks", records, BINARY, read_record)
    yield Kind(
        "profile.json", [_profile_json()], JSON, reading.profile, "profile/profile.json", _merged
    )
    yield Kind("rules", [_RULES], TEXT, lambda path: read_rules(path.parent), "rules.toml")
    timed = ["s1", "s1", "s2", "s2"], {1024: 2e-5, 1 << 20: 1e-3}
    ways: list[dict[str, Any]] = [
        {},
        {"tag": "[1,0]<stdout>:", "columns": "size count type redop root time algbw busbw"},
        {"tag": lambda line: f"2026-05-01T12:00:{line:02}.5Z \x1b[32m0: ", "redop": "sum"},
    ]
    texts = [printed("all_reduce_perf", *timed, **way).encode() for way in ways]
    texts.append(printed("", [], timed[1], each=4, redop="sum", named=False).encode())
    yield Kind("text of nccl-tests", texts, TEXT, explain, command=("explain", "PATH"))
    documents = [written("all_reduce_perf", *timed).encode()]
    yield Kind("JSON of nccl-tests", documents, JSON, explain, command=("explain", "PATH"))
    yield Kind("calibrations", [made_calibration()], JSON, reading.calibration, "calibration.json")
