"""Port counters as the tools print them, and as nobody should."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contend.base.errors import InputError
from contend.fabric.counters.port_counters import PortCount, read_counters
from sample_fabrics import DATA

COUNTERS = DATA / "counters"


def _read(text: str, host: str = "") -> list[PortCount]:
    return read_counters([text.encode("utf-8", "surrogateescape")], "it", host)


def _file(name: str) -> list[PortCount]:
    return read_counters([(COUNTERS / name).read_bytes()], name)


def test_ibqueryerrors_prints_words_of_four_bytes() -> None:
    """Port 5 of S0 was set to 12,000,000,000 words, all other ports to 3,000,000,000."""
    found = {(count.guid, count.port): count for count in _file("fig1.counters.ibqueryerrors")}
    # 16 adapters with a port, six switches with eight.
    assert len(found) == 16 + 6 * 8
    hot, other = found[0x200000000, 5], found[0x200000003, 5]
    assert hot.sent == pytest.approx(48e9, rel=1e-5)
    assert other.sent == pytest.approx(12e9, rel=1e-5)
    assert (hot.waited, hot.host, hot.lid) == (None, "", 0)
    assert found[0x1000000F0, 1].sent == 2232 * 4


def test_ports_with_errors_tell_their_waiting_and_sums_of_ports_are_left_out() -> None:
    found = {(count.guid, count.port): count for count in _file("fig1.data.ibqueryerrors")}
    assert sorted(found) == [
        (0x200000000 + leaf, port) for leaf in range(4) for port in (5, 6, 7, 8)
    ]
    assert found[0x200000000, 5].waited == 12000
    assert found[0x200000001, 7].waited == 3000


def test_perfquery_goes_by_lids() -> None:
    found = {(count.lid, count.port): count for count in _file("fig1.perfquery")}
    assert len(found) == 6 * 8
    assert found[9, 5].sent == pytest.approx(48e9, rel=1e-5)
    [plain] = _file("plain.perfquery")
    assert plain == PortCount(5, lid=9, sent=79056 * 4, received=84240 * 4, waited=12000)


def test_old_names_full_counters_and_blocks_of_all_ports() -> None:
    [count] = _read(
        "# Port counters: Lid 936 port 1\nXmtData:.........................905972985\n"
        "RcvData:.........................4294967295\n"
        "# Port counters: Lid 936 port 255 (CapMask: 0x1300)\nPortXmitData:....................7\n"
        "# Port counters: DR path slid 0; dlid 0; 0,1 port 1\nPortXmitData:....................7\n"
    )
    assert count == PortCount(1, lid=936, sent=905972985 * 4, received=None)


def test_exporters_of_a_whole_fabric() -> None:
    """One exports bytes with the GUID, the other words with the GUIDs of both ends."""
    guid = 0x506B4B03005C2740
    one, other = _read(
        "# TYPE infiniband_switch_port_transmit_data_bytes_total counter\n"
        'infiniband_switch_port_transmit_data_bytes_total{guid="0x506b4b03005c2740",port="1",'
        'switch="ib \\"1\\""} 7.1516e+14\n'
        'infiniband_switch_port_transmit_wait_total{guid="0x506b4b03005c2740",port="1"} 41 '
        "1700000000500\n"
        'infiniband_portrcvdata_total{local_guid="506b4b03005c2740",local_name="a",local_port="2",'
        'remote_guid="0x1",remote_name="n",remote_port="1"} 5.0\n'
    )
    assert one == PortCount(1, guid, sent=7.1516e14, waited=41, time=1700000000.5)
    assert other == PortCount(2, guid, received=20)


def test_exporters_of_a_host() -> None:
    metric = "node_infiniband_port_data_transmitted_bytes_total"
    [named] = _read(f'{metric}{{device="mlx5_0",instance="node07:9100",port="1"}} 12\n', "file")
    assert named == PortCount(1, host="node07", device="mlx5_0", sent=12)
    [by_file] = _read(f'{metric}{{device="mlx5_0",port="1"}} 12\n', "node08")
    assert by_file.host == "node08"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it:1: expected counters as perfquery"),
        ("hello\n", "got 'hello'"),
        (
            'infiniband_switch_port_transmit_wait_total{guid="0x1",port="1"} -1\n',
            "it:1: expected a number from 0, got -1",
        ),
        (
            'infiniband_switch_port_transmit_wait_total{guid="0x1",port="1"} NaN\n',
            "it:1: expected a number from 0, got NaN",
        ),
        (
            'infiniband_switch_port_transmit_wait_total{guid="0x1"} 1\n',
            'it:1: expected a label port="..."',
        ),
        (
            'infiniband_switch_port_transmit_wait_total{guid="here",port="1"} 1\n',
            "it:1: expected a GUID such as 0x506b4b03005c2740, got here",
        ),
        (
            "# Port counters: Lid 1 port 1\n\nPortXmitData:....12x\n",
            "it:3: expected a whole number, got 12x",
        ),
        (f"   GUID 0x1 port {'9' * 30}: [PortXmitWait == 1]\n", "it:1: expected a whole number"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        _read(text)


_PIECES = st.sampled_from(
    [
        *(
            "# Port counters: Lid ",
            "# Port extended counters: Lid 3 port ",
            "PortXmitData:....",
            "7",
        ),
        *(
            "   GUID 0x",
            " port ",
            ": [PortXmitWait == ",
            "]",
            "\n",
            "infiniband_portxmitdata_total{",
        ),
        *('local_guid="0x1",local_port="', '"} ', "1e400", "99999999999999999999999", "ALL", "\\"),
    ]
)


@given(st.lists(_PIECES | st.text(max_size=5), max_size=30).map("".join))
def test_any_text_is_read_or_refused_with_its_line(text: str) -> None:
    """Counters are never negative nor infinite, and ports come once."""
    chunks = [text.encode("utf-8", "surrogatepass")]
    refusal: InputError | None = None
    try:
        found = read_counters(chunks, "it")
    except InputError as error:
        refusal, found = error, []
    assert refusal is None or (refusal.line >= 1 and "\n" not in str(refusal))
    assert len({count.key for count in found}) == len(found)
    for count in found:
        for value in (count.sent, count.received, count.waited):
            assert value is None or 0 <= value < float("inf")


def test_labels_of_any_length_are_read_at_once() -> None:
    """A word is tried as a name where it begins alone: from every letter, time would be squared."""
    labels = f'{"a" * 60_000} guid="0x1",port="'
    metric = "infiniband_switch_port_transmit_data_bytes_total"
    lines = [f'{metric}{{{labels}{port}"}} 5\n'.encode() for port in range(1, 101)]
    assert sorted(count.port for count in read_counters(lines, "it")) == list(range(1, 101))
