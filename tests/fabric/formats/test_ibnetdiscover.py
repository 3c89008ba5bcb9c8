from __future__ import annotations

import lzma
import re
from pathlib import Path

import numpy as np
import pytest

from contend.base.errors import InputError
from contend.fabric.assemble import GAP, assemble, what_is_missing
from contend.fabric.formats.ibnetdiscover import IBNETDISCOVER
from contend.fabric.subnet import NodeKind, Subnet
from contend.routes import load

DATA = Path(__file__).resolve().parents[2] / "data" / "ibsim"

SPINE, LINE = 0x8F10400411F56, 0x8F10400411A08
ODD, LOCALHOST, ROUTER = 0x2C9020020E4B4, 0x2C9020020E4B8, 0x2C90200AA0000


def golden(name: str) -> Subnet:
    return IBNETDISCOVER.read([(DATA / name).read_bytes()], name)


def parse(text: str) -> Subnet:
    return IBNETDISCOVER.read([text.encode()], "net.txt")


def failure(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        parse(text)
    return caught.value


def cables(subnet: Subnet) -> set[tuple[int, int, int, int]]:
    """(GUID, port, GUID of the peer, its port) of every end with a peer."""
    return {
        (int(subnet.guid[node]), port, int(subnet.guid[peer]), peer_port)
        for node, port, peer, peer_port in zip(
            subnet.node.tolist(),
            subnet.port.tolist(),
            subnet.peer.tolist(),
            subnet.peer_port.tolist(),
            strict=True,
        )
        if peer >= 0
    }


CHASSIS_CABLES = {
    (SPINE, 1, LINE, 1),
    (SPINE, 2, LINE, 2),
    (LINE, 13, ODD, 1),
    (LINE, 14, LOCALHOST, 1),
    (LINE, 15, ROUTER, 1),
    (LINE, 16, LINE, 17),
}
BOTH_WAYS = CHASSIS_CABLES | {(b, q, a, p) for a, p, b, q in CHASSIS_CABLES}


@pytest.mark.parametrize("option", ["", ".grouped", ".full"])
def test_records_of_the_real_tool_say_the_same_with_every_option(option: str) -> None:
    subnet = golden(f"chassis{option}.ibnetdiscover")
    rows = {int(guid): row for row, guid in enumerate(subnet.guid.tolist())}
    assert rows.keys() == {SPINE, LINE, ODD, LOCALHOST, ROUTER}
    assert cables(subnet) == BOTH_WAYS
    assert subnet.kind[rows[SPINE]] == NodeKind.SWITCH
    assert subnet.kind[rows[ROUTER]] == NodeKind.ROUTER
    assert subnet.kind[rows[ODD]] == NodeKind.ADAPTER
    assert subnet.lid[rows[LINE]] == 7
    assert subnet.ports[rows[LINE]] == 24
    assert subnet.device_id[rows[LINE]] == 0x5A34
    assert subnet.system_guid[rows[LINE]] == 0x8F10400411F58
    assert subnet.name[rows[LOCALHOST]] == "localhost HCA-1"
    own = subnet.node.tolist().index(rows[LOCALHOST])
    assert subnet.port_guid[own] == LOCALHOST + 1
    assert subnet.end_lid[own] == 1
    assert subnet.rates == ("", "4xSDR")
    assert set(subnet.rate.tolist()) == {1}
    assert subnet.notes == ()


def test_lines_are_those_of_the_file() -> None:
    text = (DATA / "chassis.ibnetdiscover").read_text().splitlines()
    subnet = golden("chassis.ibnetdiscover")
    for guid, line in zip(subnet.guid.tolist(), subnet.node_line.tolist(), strict=True):
        assert f'-{guid:016x}"' in text[line - 1]
    for port, line in zip(subnet.port.tolist(), subnet.end_line.tolist(), strict=True):
        assert text[line - 1].startswith(f"[{port}]")


def test_a_port_listing_knows_ports_that_are_down_and_no_adapters() -> None:
    subnet = golden("chassis.ports.ibnetdiscover")
    # The listing names port GUIDs: an adapter's is its node GUID + 1 here, a switch's the same.
    ports = {ODD: ODD + 1, LOCALHOST: LOCALHOST + 1, ROUTER: ROUTER + 1}
    expected = {(ports.get(a, a), p, ports.get(b, b), q) for a, p, b, q in BOTH_WAYS}
    assert cables(subnet) == expected
    # Two switches of 24 ports with 2 and 7 cabled ones.
    assert np.count_nonzero(subnet.peer < 0) == 22 + 17
    rows = {int(guid): row for row, guid in enumerate(subnet.guid.tolist())}
    assert subnet.lid[rows[LINE]] == 7
    assert subnet.name[rows[LOCALHOST + 1]] == "localhost HCA-1"
    own = subnet.node.tolist().index(rows[LOCALHOST + 1])
    assert (subnet.end_lid[own], subnet.port_guid[own]) == (1, LOCALHOST + 1)
    assert subnet.rates == ("", "4xSDR")
    assert "port listing" in subnet.notes[0]


def test_a_listed_port_that_is_down_may_have_a_description_without_quotes() -> None:
    subnet = parse(
        "SW    17  1 0x00000000000000a0 4x QDR - CA     2  1 0x00000000000000b1 "
        "( 'spare leaf' - 'h1 HCA-1' )\n"
        "SW    17  2 0x00000000000000a0 4x QDR                                   spare leaf \n"
        "SW    18 36 0x00000000000000c0 4x QDR                                   Model IV's (old)\n"
        "CA     2  1 0x00000000000000b1 4x QDR - SW    17  1 0x00000000000000a0 "
        "( 'h1 HCA-1' - 'spare leaf' )\n"
    )
    names = dict(zip(subnet.guid.tolist(), subnet.name, strict=True))
    assert names == {0xA0: "spare leaf", 0xB1: "h1 HCA-1", 0xC0: "Model IV's (old)"}
    assert np.count_nonzero(subnet.peer < 0) == 2


def test_several_ports_and_lids_of_an_adapter() -> None:
    subnet = golden("two-switches.ibnetdiscover")
    row = subnet.name.index("Hca2")
    own = subnet.node == row
    assert subnet.port[own].tolist() == [1, 2]
    assert subnet.end_lid[own].tolist() == [16, 20]
    assert subnet.end_lmc[own].tolist() == [2, 2]


@pytest.mark.parametrize(
    ("name", "switches", "adapters", "aggregation"),
    [("compute", 666, 4341, 666), ("storage", 160, 1247, 0)],
)
def test_a_real_machine(
    shared_data: Path, name: str, switches: int, adapters: int, aggregation: int
) -> None:
    file = shared_data / f"selene.{name}.ibnetdiscover.xz"
    subnet = IBNETDISCOVER.read([lzma.decompress(file.read_bytes())], file.name)
    assert np.count_nonzero(subnet.kind == NodeKind.SWITCH) == switches
    assert np.count_nonzero(subnet.kind == NodeKind.ADAPTER) == adapters
    if aggregation:
        assert sum("Aggregation Node" in text for text in subnet.name) == aggregation
    assert subnet.notes == ()
    there = cables(subnet)
    assert there == {(b, q, a, p) for a, p, b, q in there}


def test_mixed_speeds_of_a_real_fabric(shared_data: Path) -> None:
    file = shared_data / "mixed-speed.ibnetdiscover"
    subnet = IBNETDISCOVER.read([file.read_bytes()], file.name)
    assert set(subnet.rates) == {"", "4xFDR", "4xEDR", "4xHDR", "4xFDR10"}
    assert np.count_nonzero(subnet.kind == NodeKind.ADAPTER) == 13


SWITCH = 'Switch\t36 "S-00000000000000a0"\t\t# "leaf" enhanced port 0 lid 3 lmc 0\n'
PORT = '[1]\t"H-00000000000000b0"[1](b1) \t\t# "node" lid 4 4xHDR\n'


@pytest.mark.parametrize(
    "name",
    [
        'has "quotes" inside',
        "hash # and lid 9 lmc 1",
        "trailing space ",
        "MF0;rack:1/U1",
        "",
        "' - '",
        '" lid 7 4xQDR',
        "\u00fcml\u00e4ut",
    ],
)
def test_descriptions_of_any_characters(name: str) -> None:
    subnet = parse(
        f'Switch 36 "S-a0" # "{name}" base port 0 lid 3 lmc 0\n'
        f'[1] "H-b0"[1](b1) # "{name}" lid 4 4xHDR\n'
        f'Ca 1 "H-b0" # "{name}"\n'
        f'[1](b1) "S-a0"[1] # lid 4 lmc 2 "{name}" lid 3 4xHDR\n'
    )
    assert subnet.name == (name, name)
    assert subnet.lid.tolist() == [3, 0]
    assert subnet.end_lid.tolist() == [0, 4]
    assert subnet.end_lmc.tolist() == [0, 2]
    assert subnet.rates == ("", "4xHDR")


def test_bytes_that_are_no_text_do_not_reach_the_terminal() -> None:
    subnet = IBNETDISCOVER.read(
        [b'Switch 2 "S-a0" # "\xff\x1b[31m\x00red" base port 0 lid 3 lmc 0\n'], "x"
    )
    assert subnet.name == ("\ufffd [31m red",)


def test_tabs_that_became_spaces_or_nothing() -> None:
    expected = parse(SWITCH + PORT)
    for blank in (" ", ""):
        subnet = parse((SWITCH + PORT).replace("\t", blank))
        assert cables(subnet) == cables(expected)
        assert subnet.lid.tolist() == expected.lid.tolist()


def test_a_node_that_has_no_record_is_known_from_its_neighbour() -> None:
    subnet = parse(SWITCH + PORT)
    assert subnet.guid.tolist() == [0xA0, 0xB0]
    assert subnet.node_line.tolist() == [1, 0]
    assert (subnet.name[1], int(subnet.lid[1])) == ("node", 4)
    assert subnet.notes == (
        '1 node has no record and is known from neighbours only: 0x00000000000000b0 "node"',
    )


def test_several_lids_heard_of_one_node_are_not_mixed_up() -> None:
    second = '[2]\t"H-00000000000000b0"[2](b2) \t\t# "node" lid 5 4xHDR\n'
    subnet = parse(SWITCH + PORT + second)
    assert subnet.lid.tolist() == [3, 0]
    assert "several LIDs" in subnet.notes[0]


def test_lids_that_stand_for_none() -> None:
    subnet = parse(SWITCH.replace("lid 3", "lid 65535") + PORT.replace("lid 4", "lid 0"))
    assert subnet.lid.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("written", "rates"),
    [
        ("4xHDR", ("", "4xHDR")),
        ("12xNDR", ("", "12xNDR")),
        ("4x???", ("", "4x???")),
        ("?????", ("",)),
        ("4xFDR10 s=4 w=2 v=3", ("", "4xFDR10")),
        ("4xSDR slot 3", ("", "4xSDR")),
        ("", ("",)),
    ],
)
def test_link_rates_old_new_and_none(written: str, rates: tuple[str, ...]) -> None:
    subnet = parse(SWITCH + PORT.replace("4xHDR", written))
    assert subnet.rates == rates
    assert subnet.rate.tolist() == [len(rates) - 1]


def test_error_messages_in_between_are_passed_over_and_told() -> None:
    noise = "ibwarn: [7] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1)\n"
    subnet = parse(SWITCH + noise + PORT + "Can't open UMAD port (mlx5_0:1)\n")
    assert cables(subnet) == cables(parse(SWITCH + PORT))
    assert subnet.gaps[0].startswith(
        "2 errors of ibnetdiscover stand in it, first in line 2: 'ibwarn: [7]"
    )


def test_a_record_that_comes_twice_is_one_node() -> None:
    subnet = parse(SWITCH + PORT + "\n" + SWITCH + PORT)
    assert subnet.guid.tolist() == [0xA0, 0xB0]
    assert subnet.port.tolist() == [1]
    assert "differ" not in "".join(subnet.notes)
    other = parse(SWITCH + PORT + SWITCH.replace("leaf", "other"))
    assert other.name[0] == "leaf"
    assert "1 record passed over that differs from the node's first, in line 3" in other.notes[0]


def test_a_port_with_two_cables_keeps_both_for_the_judge() -> None:
    subnet = parse(SWITCH + PORT + PORT.replace("b0", "c0"))
    assert subnet.port.tolist() == [1, 1]
    assert subnet.peer.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "line", "expected", "got"),
    [
        (PORT, 1, "a node before its ports", "'[1]"),
        (SWITCH + "[255]" + PORT[3:], 2, "a port from 1 to 254", "'255]"),
        (SWITCH + "[0]" + PORT[3:], 2, "a port from 1 to 254", "'0]"),
        (SWITCH + "[99999999999999999999]" + PORT[3:], 2, "a port from 1 to 254", "'999"),
        (SWITCH + PORT.replace("lid 4", "lid 65536"), 2, "a LID of at most 65535", "'65536 "),
        (SWITCH + PORT.replace("lid 4", "lid 4x"), 2, "a number", "'4x 4xHDR'"),
        (SWITCH + PORT.replace("H-", "X-"), 2, 'a node such as "S-0002c903007b78b0"', "'\"X-"),
        (SWITCH + PORT.replace("b1)", "b1"), 2, "a port GUID in parentheses", "'(b1 "),
        (SWITCH + '[1]\t"H-00000000000000b0"[1\n', 2, "a closing bracket", "the end of the line"),
        (SWITCH + PORT.replace('node"', "node"), 2, "a description in quotes", "'\"node lid"),
        (SWITCH.replace("36", "255"), 1, "a number of ports of at most 254", "'255 "),
        (SWITCH.replace("lmc 0", "lmc 8"), 1, "an LMC of at most 7", "'8'"),
        ("devid=0x123456789\n", 1, "a device id", "the end of the line"),
        ("sysimgguid=12\n", 1, "a GUID", "'12'"),
        (SWITCH + "SW 3 1 0x00000000000000a0 4x HDR 'leaf'\n", 2, "node records as above", "'SW"),
        ("SW 3 1 0x00000000000000a0 4x HDR 'leaf'\n" + SWITCH, 2, "a port listing as above", "'Sw"),
        (
            "SW 3 1 0x00000000000000a0 4x HDR - CA 4 1 0xb1 ( 'leaf' )\n",
            1,
            "two descr",
            "''leaf' )'",
        ),
        ("SW 3 1 a0 4x HDR 'leaf'\n", 1, "a port GUID", "'a0 4x"),
        ("SW 3 1 0xa0 fast 'leaf'\n", 1, "a link rate such as 4x HDR", "'fast'leaf''"),
        ("", 0, "the records or ports that ibnetdiscover prints", "none"),
        ("\0\1\2\n" * 5, 0, "the records or ports that ibnetdiscover prints", "none"),
        ("x" * 70_000, 1, "a line of at most 65536 bytes", "a longer one"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    text: str, line: int, expected: str, got: str
) -> None:
    error = failure(text)
    assert (error.source, error.line) == ("net.txt", line)
    assert error.expected.startswith(expected)
    assert error.got.startswith(got)


def test_recognises_its_own_kind_only() -> None:
    for file in DATA.iterdir():
        assert IBNETDISCOVER.recognises(file.read_bytes()) == (file.suffix == ".ibnetdiscover"), (
            file.name
        )
    assert IBNETDISCOVER.recognises(b'ibwarn: noise\n\nCa 1 "H-000000000000000b"\n')
    assert not IBNETDISCOVER.recognises(b"Switch to another network\n")


def test_guids_that_were_blotted_out_are_told_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "net.txt"
    path.write_text(
        "# Topology file: generated on Fri Jul 19 02:49:25 2024\nvendid=0x2c9\n"
        "switchguid=0x9c05<redacted>(9c05<redacted>)\n"
        'Switch\t129 "S-9c05<redacted>"\t\t# "leaf1" enhanced port 0 lid 1 lmc 0\n'
        '[1]\t"H-b83f<redacted>"[1](b83f<redacted>) \t\t# "node005 mlx5_2" lid 22 2xNDR\n'
    )
    with pytest.raises(InputError, match=r'net\.txt:4: expected a node such as "S-0002c90'):
        load(path)


TWO = (DATA / "two-switches.ibnetdiscover").read_text()


def same(text: str) -> bool:
    """Whether a text tells the same cables, names and LIDs as the real file."""
    ours, real = parse(text), parse(TWO)
    columns = ("guid", "name", "lid", "end_lid", "end_lmc", "port_guid")
    return cables(ours) == cables(real) and all(
        list(getattr(ours, column)) == list(getattr(real, column)) for column in columns
    )


@pytest.mark.parametrize(
    "prompt",
    [
        "[root@node01 ~]# ",
        "[12:30:01 admin@head /tmp]$ ",
        "root@node01:~# ",
        "[standalone: master] # ",
        "[1]+  Done   opensm\n[1] 4711\n> ",
        "\x1b]0;root@node01\x07\x1b[01;32m[root@node01 ~]#\x1b[0m ",
    ],
)
def test_a_terminals_capture_may_have_any_prompt(prompt: str) -> None:
    captured = f"{prompt}ibnetdiscover\r\n\x1b[?2004l\r{TWO}{prompt}exit\n"
    assert same(captured.replace("\n", "\r\n"))
    assert IBNETDISCOVER.recognises(captured.encode())


def test_a_damaged_port_is_no_prompt() -> None:
    port = next(number for number, line in enumerate(TWO.splitlines(), 1) if line[:1] == "[")
    for damaged in ("[x]", "[300]", "[@1]"):
        text = TWO.replace("\n[1]", f"\n{damaged}", 1)
        assert failure(text).line == port
        assert failure(text).expected == "a port from 1 to 254"


def test_descriptions_may_have_no_quotes() -> None:
    bare = re.sub(r'# (lid \d+ lmc \d+ )?"([^"]*)"', r"# \1\2", TWO)
    assert bare.count('"') < TWO.count('"')
    assert same(bare)


def test_a_lid_without_its_number_is_unknown() -> None:
    subnet = parse(re.sub(r"\blid \d+ (lmc|4x)", r"lid \1", TWO))
    assert cables(subnet) == cables(parse(TWO))
    assert not subnet.end_lid.any()
    assert set(subnet.rates) == set(parse(TWO).rates)
    header = 'Switch 4 "S-00000000000000a0" # "leaf" base port 0 lid lmc 0\n'
    assert parse(header).lid.tolist() == [0]
    assert failure(header.replace("lid", "lid 12y")).expected == "a number"


def test_a_dump_that_is_cut_anywhere_loads_and_says_so() -> None:
    """In every position of its last records, within words, numbers and descriptions."""
    whole = (DATA.parent / "tiny.ibnetdiscover").read_bytes()
    first = whole.index(b"Ca\t") + 40
    for end in range(first, len(whole) - 1):
        text = whole[:end]
        fabric = assemble(IBNETDISCOVER.read([text], "x"), "x")
        line = text.count(b"\n") + 1
        cut = f"it ends within line {line}"
        told = [finding.message for finding in fabric.findings if finding.kind == GAP]
        rest = text.rpartition(b"\n")[2]
        complete = whole[end : end + 1] == b"\n"
        if rest.strip() and not complete and rest[:1] in b"[CS":
            assert told == [cut], (end, rest)
        assert told in ([], [cut])
        assert fabric.hosts > 0


def test_errors_of_the_tool_are_told_as_such() -> None:
    error = "src/query_smp.c:227; umad (DR path slid 0; dlid 0; 0,1) bad status 110; timed out\n"
    text = (DATA.parent / "tiny.ibnetdiscover").read_text()
    fabric = assemble(IBNETDISCOVER.read([f"{error}$ \n{error}{text}".encode()], "x"), "x")
    assert what_is_missing(fabric).startswith(
        "2 errors of ibnetdiscover stand in it, first in line 1: 'src/query_smp.c:227"
    )
    notes = [finding.message for finding in fabric.findings if finding.kind == "reader's note"]
    assert notes == ["1 line passed over that is not ibnetdiscover's, in line 2: '$ '"]
