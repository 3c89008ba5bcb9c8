"""What docs/explanation/bounds.md promises: memory and time of reading in the size of what is read.

Each file is read by a process of its own, whose memory is limited to what the page allows and whose
processor time is too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
import zstandard

from bounded_process import read_within_bounds, run_within_bounds
from contend.fabric.formats import fabric_file
from contend.routes import load, save
from sample_fabrics import two_leaves

LOAD = "contend.load(path).hosts"


def packed(path: Path, head: bytes, repeated: bytes, times: int, end: bytes = b"") -> int:
    """Writes a small file that holds much, and returns how much."""
    with path.open("wb") as file, zstandard.ZstdCompressor(3).stream_writer(file) as out:
        out.write(head)
        block = repeated * 10_000
        for _ in range(times // 10_000):
            out.write(block)
        out.write(end)
    return len(head) + len(repeated) * (times // 10_000) * 10_000 + len(end)


_NODES = b"START_NODES\nNodeDesc,NumPorts,NodeType,NodeGUID\n"
_LINKS = (
    _NODES + b"n,1,1,0x1\ns,4,2,0x2\nEND_NODES\n"
    b"START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n"
)
_PORTS = b'"s", Mellanox, 0x2, LID 1\n# : IB# : Sta : Neighbor Guid : N# : Neighbor Description\n'
BOMBS: dict[str, tuple[bytes, bytes, bytes]] = {
    "ports.net_dump": (_PORTS, b'1 : 1 : ACT : 0x1 : 1 : "n"\n', b""),
    "plan.dot": (b"graph x {\n", b"a--b;\n", b"}\n"),
    "plan.ndt": (b"StartDevice,StartPort,EndDevice,EndPort\n", b"a,1,b,2\n", b""),
    "lldp.txt": (b"", b"Interface:  a, via: LLDP\n SysName:  b\n", b""),
    "topology.yaml": (b"- topology: t\n  tree: {switches: [", b"a, ", b"]}\n"),
    "nodes.db_csv": (_NODES, b"n,1,1,0x1\n", b"END_NODES\n"),
    "links.db_csv": (_LINKS, b"0x1,1,0x2,2\n", b"END_LINKS\n"),
    "edges.dot": (b"digraph x {\n", b"H1->S1;S1->H1;\n", b"}\n"),
    "hosts of an edge.dot": (b'digraph x {\nH1->S1;S1->H1[comment="', b"H1,", b'"];}\n'),
    "ports.net": (b'Switch 4 "S1"\n', b'[1] "S1"[2]\n', b""),
    "nodes.graphml": (b"<graphml><graph>", b"<node/>", b"</graph></graphml>"),
}


def test_small_files_that_hold_much(tmp_path: Path) -> None:
    sizes = {}
    for name, (head, repeated, end) in BOMBS.items():
        path = tmp_path / f"{name.replace(' ', '-')}.zst"
        sizes[str(path)] = packed(path, head, repeated, 100_000, end)
        assert path.stat().st_size < sizes[str(path)] / 100
    read_within_bounds(LOAD, sizes)


def test_many_ports_that_are_called_as_management_ports(tmp_path: Path) -> None:
    ends = "a:eth{0} -- b{0}:swp1\na:swp{0} -- c{0}:swp2\n"
    path = tmp_path / "plan.dot"
    path.write_text(f"graph x {{\n{''.join(map(ends.format, range(8000)))}}}\n")
    read_within_bounds(LOAD, {str(path): path.stat().st_size})


def test_more_than_texts_can_be_compressed_to_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "zeros.net.zst"
    packed(path, b'Switch 4 "S1"\n', b"#" * 999 + b"\n", 80_000)
    [said] = read_within_bounds(LOAD, {str(path): 70 << 20})
    assert "at most 1000 bytes for each" in said


def changed(change: Callable[[dict[str, object]], None]) -> bytes:
    columns: dict[str, object] = {}
    change(columns)
    fabric = two_leaves().replace(routes=None, **columns)
    return b"".join(fabric_file.write(fabric))


@pytest.mark.parametrize(
    ("column", "value"),
    [("host_lid", [1, 2, 3, 0x7FFFFFFF]), ("switch_ports", [65535, 65535])],
)
def test_numbers_of_a_fabric_file_ask_for_no_memory(
    column: str, value: list[int], tmp_path: Path
) -> None:
    kind = getattr(two_leaves(), column).dtype
    path = tmp_path / "large.fabric"
    path.write_bytes(changed(lambda columns: columns.update({column: np.array(value, kind)})))
    read_within_bounds(LOAD, {str(path): 1 << 20})


def test_a_name_of_any_length_is_refused_before_it_is_taken(tmp_path: Path) -> None:
    names = two_leaves().host_name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fabric_file, "LONGEST_TEXT", 1 << 28)
        content = changed(lambda columns: columns.update(host_name=("n" * (100 << 20), *names[1:])))
    path = tmp_path / "name.fabric"
    path.write_bytes(content)
    [said] = read_within_bounds(LOAD, {str(path): 100 << 20})
    assert "at most 65536 bytes of one host_name" in said


# How a line begins, and what it is filled with: what expressions might try in every way.
_FILLERS = (
    *((b"", b"\n"), (b"", b" "), (b'Switch 4 "S" # ', b'"'), (b'[1] "', b" "), (b"{ CA", b" ")),
    *((b"", b"{ CA Ports:01 SystemGUID:1 {"), (b"digraph x {", b'"a'), (b"digraph", b" ")),
    *((b"graph x {", b'"a'), (b"StartDevice,EndDevice", b","), (b"- topology: a", b" [")),
    *((b" # : IB# :", b" :"), (b"Interface:  a, via: LLDP", b" a: "), (b"BlockSizes=", b"2,")),
    *((b"SwitchName=a Nodes=", b"["), (b"SwitchName=a Nodes=", b"#"), (b"START_NODES", b",")),
    *(
        (b"0x0002c9  1  1[ ] ==(", b" 4X "),
        (b"vendid=0", b"\x1b["),
        (b"", b"["),
        (b"<graphml ", b"a "),
    ),
)


def _mebibytes(folder: Path, lines: Iterable[bytes]) -> dict[str, int]:
    """Files of one long line over and over."""
    files = {str(folder / str(number)): line for number, line in enumerate(lines)}
    for path, line in files.items():
        Path(path).write_bytes((line + b"\n") * 17)
    return {path: 17 * len(line) for path, line in files.items()}


def test_a_mebibyte_of_one_thing(tmp_path: Path) -> None:
    lines = (head + repeated * (60_000 // len(repeated)) for head, repeated in _FILLERS)
    read_within_bounds(LOAD, _mebibytes(tmp_path, lines))


_LINES_OF_HOSTS = (
    b"a" + b" " * 60_000 + b"b",
    b"a:" + b" " * 60_000 + b"x",
    b" slots" * 10_000,
    b"[" * 60_000,
)


def test_a_mebibyte_of_hosts(tmp_path: Path) -> None:
    read = "contend.placement.parse('file:' + path, contend.load('crossbar:4'))"
    read_within_bounds(read, _mebibytes(tmp_path, _LINES_OF_HOSTS))


_NODES_OF_ONE_NAME = """
from contend.fabric.subnet import with_guids
from contend.fabric.subnet import NodeKind, SubnetBuilder
builder = SubnetBuilder("file")
for _ in range(60_000):
    builder.node(NodeKind.SWITCH, "x")
subnet = builder.subnet()
"""


def test_nodes_of_one_name_do_not_wait_for_each_other() -> None:
    count = "bound(0)\nprint(len(set(with_guids(subnet).guid)))"
    made = run_within_bounds(_NODES_OF_ONE_NAME, count)
    assert made == "60000\n"


_HOSTILE = b"""Switch 4 "S\xff=1\x1b[31m"
[1] "caf\xe9"[1]
[2] "caf\xe8"[1]
[3] "\xcf\x80\x1b[31m"[1]
Hca 1 "caf\xe9"
[1] "S\xff=1\x1b[31m"[1]
Hca 1 "caf\xe8"
[1] "S\xff=1\x1b[31m"[2]
Hca 1 "\xcf\x80\x1b[31m"
[1] "S\xff=1\x1b[31m"[3]
"""


@pytest.mark.parametrize("kind", ["fabric", "ibnetdiscover", "orcs", "graphml"])
def test_names_come_out_legible_and_equal_only_where_they_are(kind: str, tmp_path: Path) -> None:
    path, copy = tmp_path / "hostile.net", tmp_path / "copy"
    path.write_bytes(_HOSTILE)
    fabric = load(str(path), route="minhop")
    assert set(fabric.host_name) == {r"caf\xe9", r"caf\xe8", r"π\x1b[31m"}
    assert fabric.switch_name == (r"S\xff=1\x1b[31m",)
    save(fabric, copy, kind)
    assert kind == "fabric" or b"\x1b" not in copy.read_bytes()
    again = load(str(copy))
    assert (set(again.host_name), again.switch_name) == (set(fabric.host_name), fabric.switch_name)


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_what_a_locale_cannot_show_is_written_out(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.net"
    path.write_bytes(_HOSTILE)
    program = "import sys; from contend.cli.app import run; sys.exit(run(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", program, "fabric", "hosts", str(path)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C"},
        check=True,
    )
    shown = "π" if encoding == "utf-8" else r"\u03c0"
    assert done.stdout.decode(encoding).splitlines()[-1].startswith(shown)
