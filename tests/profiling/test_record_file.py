"""Records of ranks: the layout is that of record.h, and what is damaged is named, not believed."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from built_records import ALLREDUCE, SEND, Rank
from contend.base.errors import InputError
from contend.profiling import read_record
from contend.profiling.record_form import (
    ANY_PEER,
    ANY_TAG,
    AWAITED,
    CELL,
    CLOCK,
    COLLECTIVE,
    COMMUNICATOR,
    EVENT,
    FOREIGN_PEER,
    HEADER,
    MOST_AWAITED,
    OFFSET,
    PEER,
    SECTION,
    SECTIONS,
    UNDER_WAY,
    VERSION,
    Awaits,
    EventKind,
    State,
)

RECORD_H = Path(__file__).parents[2] / "src" / "contend" / "tracer" / "record.h"
STRUCTS = {
    "contend_header": HEADER,
    "contend_section": SECTION,
    "contend_clock": CLOCK,
    "contend_offset": OFFSET,
    "contend_communicator": COMMUNICATOR,
    "contend_cell": CELL,
    "contend_peer": PEER,
    "contend_collective": COLLECTIVE,
    "contend_awaited": AWAITED,
    "contend_under_way": UNDER_WAY,
    "contend_event": EVENT,
}


def _rank() -> Rank:
    rank = Rank(1, 3)
    send = rank.cell(SEND, calls=2, size=16)
    reduce = rank.cell(ALLREDUCE)
    rank.event(0, 10, send, peer=2)
    rank.event(20, 30, reduce)
    rank.collective(20, 30, reduce)
    rank.communicator(77, [1, 2], name="pair")
    rank.sent = {2: (16, 2)}
    return rank


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rank-000001.record"
    path.write_bytes(_rank().content())
    return path


def test_layout_is_what_a_c_compiler_makes_of_the_header(
    tmp_path: Path, require_program: Callable[[str], None]
) -> None:
    require_program("cc")
    lines = []
    for struct, dtype in STRUCTS.items():
        lines.append(f'printf("{struct} %zu\\n", sizeof({struct}));')
        lines += [
            f'printf("{struct}.{name} %zu %zu\\n", offsetof({struct}, {name}), '
            f"sizeof((({struct} *)0)->{name}));"
            for name in dtype.names or ()
        ]
    lines.append('printf("sections %d\\n", (int)CONTEND_SECTIONS);')
    source = tmp_path / "layout.c"
    body = "\n".join(lines)
    source.write_text(
        f'#include <stddef.h>\n#include <stdio.h>\n#include "{RECORD_H}"\n'
        f"int main(void) {{ {body} return 0; }}\n"
    )
    subprocess.run(["cc", str(source), "-o", str(tmp_path / "layout")], check=True)
    done = subprocess.run([tmp_path / "layout"], capture_output=True, text=True, check=True)
    expected = {}
    for struct, dtype in STRUCTS.items():
        expected[struct] = [dtype.itemsize]
        for name, (kind, offset, *_) in (dtype.fields or {}).items():
            expected[f"{struct}.{name}"] = [offset, kind.itemsize]
    expected["sections"] = [len(SECTIONS)]
    told = (line.split() for line in done.stdout.splitlines())
    assert {name: [int(number) for number in numbers] for name, *numbers in told} == expected


def test_everything_is_read(file: Path) -> None:
    record = read_record(file)
    assert (record.rank, record.size, record.state) == (1, 3, State.FINISHED)
    assert (record.host, record.library) == ("node1", "Open MPI v4.1.4")
    assert record.routines[:2] == ("MPI_Send", "MPI_Recv")
    assert record.cells["bytes"].tolist() == [16, 8]
    assert record.peers["messages"].tolist() == [0, 0, 2]
    assert record.events["peer"].tolist() == [2, -1]
    assert record.collectives["cell"].tolist() == [1]
    members = record.members_of(3)
    assert members.tolist() == [1, 2]
    assert record.members_of(0) is None
    assert len(read_record(file, events=False).events) == 0


def _damaged(file: Path, field: str, value: object, section: int | None = None) -> Path:
    content = bytearray(file.read_bytes())
    header = np.frombuffer(content, HEADER, 1)
    if section is None:
        header[field] = value
    else:
        header["sections"][0, section][field] = value
    file.write_bytes(content)
    return file


@pytest.mark.parametrize(
    ("field", "value", "section", "message"),
    [
        ("magic", b"contendX", None, "begins with contendR"),
        ("version", VERSION + 1, None, f"expected version {VERSION} .* got version {VERSION + 1}"),
        (
            "header_bytes",
            8,
            None,
            f"a header of {HEADER.itemsize} bytes, got version {VERSION} with 8",
        ),
        ("rank", 3, None, "got rank 3 of 3"),
        ("size", 2**30, None, "got rank 1 of 1073741824"),
        ("state", 9, None, "a state from 0 to 3, got 9"),
        ("item_bytes", 8, 4, "expected cells of 48 bytes, got of 8"),
        ("used", 2**40, 4, "expected at most 2 cells, got 1099511627776"),
        ("capacity", 2**60, 7, "sections within"),
        ("offset", 2**63, 7, "sections within"),
        ("offset", 0, 7, "sections within"),
    ],
)
def test_impossible_headers_are_named(
    file: Path, field: str, value: object, section: int | None, message: str
) -> None:
    with pytest.raises(InputError, match=message) as raised:
        read_record(_damaged(file, field, value, section))
    assert raised.value.source == str(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda rank: rank.cell(SEND, communicator=9),
            "communicators of cells below 4, got 0 to 9",
        ),
        (lambda rank: rank.cell(99), "routines of cells below 6"),
        (lambda rank: rank.event(0, 1, 7), "cells of events below 2"),
        (lambda rank: rank.event(0, 1, 0, kind=5), "kinds of events below 3"),
        (lambda rank: rank.event(0, 1, 0, peer=3), "peers of events below 3"),
        (lambda rank: rank.collective(0, 1, 9), "cells of collectives below 2"),
        (lambda rank: setattr(rank, "members", [1, 7]), "members below 3"),
        (lambda rank: setattr(rank, "members", [1]), "members within 1, got up to 2"),
    ],
)
def test_numbers_that_lead_nowhere_are_named(
    tmp_path: Path, change: Callable[[Rank], object], message: str
) -> None:
    rank = _rank()
    change(rank)
    path = tmp_path / "one.record"
    path.write_bytes(rank.content())
    with pytest.raises(InputError, match=message):
        read_record(path)


@pytest.mark.parametrize("kept", [0, 7, 1047, 1100, 2000])
def test_a_file_that_was_cut_off_is_named(file: Path, kept: int) -> None:
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(InputError, match=re.escape(str(file))):
        read_record(file)


def test_numbers_are_those_of_the_recorder() -> None:
    """The recorder's header names states, what is waited for, events and sections in this order."""
    header = RECORD_H.read_text("utf-8")
    named = {
        kind: re.findall(r"^ *CONTEND_(\w+)\b", body, re.MULTILINE)
        for kind, body in re.findall(r"enum contend_(\w+) \{(.*?)\n\}", header, re.DOTALL)
    }
    assert named["state"] == [state.name for state in State]
    assert named["awaited_kind"] == [f"AWAITS_{kind.name}" for kind in Awaits]
    assert named["event_kind"] == [kind.name for kind in EventKind]
    assert named["section_kind"] == [*(name.upper() for name in SECTIONS), "SECTIONS"]
    constants = dict(re.findall(r"#define CONTEND_(\w+) \(?(-?\d+)", header))
    assert int(constants["RECORD_VERSION"]) == VERSION
    assert [int(constants[name]) for name in ("ANY_PEER", "FOREIGN_PEER", "ANY_TAG")] == [
        ANY_PEER,
        FOREIGN_PEER,
        ANY_TAG,
    ]
    assert f"CONTEND_AWAITED = {MOST_AWAITED} " in header
