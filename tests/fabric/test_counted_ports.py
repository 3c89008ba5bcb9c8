"""What channels have carried: ports found by GUID, LID and name; two readings; both ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contend.base.errors import InputError, UsageError
from contend.fabric import Fabric, carried
from contend.routes import load
from sample_fabrics import DATA

COUNTERS = DATA / "counters"


@pytest.fixture(scope="module")
def fig1() -> Fabric:
    return load(str(COUNTERS / "fig1.ibnetdiscover"), route="updn")


@pytest.mark.parametrize("name", ["fig1.counters.ibqueryerrors", "fig1.perfquery"])
def test_all_channels_between_switches_are_found(fig1: Fabric, name: str) -> None:
    """One port sent 48 GB, the 31 others 12 each."""
    found = carried(fig1, [COUNTERS / name])
    assert found.known.tolist() == list(range(2 * fig1.cables)) == list(range(32))
    sent = found.sent[:32] / 12e9
    hot = int(np.argmax(sent))
    assert fig1.channel_name(hot).startswith('switch "S0" port 5 -> switch "S4" port 1')
    assert sorted(sent.tolist()) == pytest.approx([1.0] * 31 + [4.0], rel=1e-4)
    assert found.unknown == found.cleared == 0


def test_what_one_file_lacks_another_has(fig1: Fabric) -> None:
    files = [COUNTERS / "fig1.counters.ibqueryerrors", COUNTERS / "fig1.data.ibqueryerrors"]
    found = carried(fig1, files)
    waited = found.waited[:32]
    # The four leaves' uplinks: 3,000 ticks, and 12,000 before the hot one.
    assert np.nansum(waited) == 15 * 3000 + 12000
    assert np.count_nonzero(~np.isnan(waited)) == 16


def _words(path: Path, **sent: int) -> Path:
    """Counters of ports 5 and 6 of S0 and port 1 of S4, in words."""
    ports = {"up": (0x200000000, 5), "other": (0x200000000, 6), "down": (0x200000004, 1)}
    path.write_text(
        "".join(
            f"   GUID {ports[name][0]:#x} port {ports[name][1]}: [PortXmitData == {words}]\n"
            for name, words in sent.items()
        )
    )
    return path


def test_two_readings_are_taken_off_each_other(fig1: Fabric, tmp_path: Path) -> None:
    before = _words(tmp_path / "before", up=100, other=70, down=5)
    after = _words(tmp_path / "after", up=350, other=20, down=5)
    found = carried(fig1, [after], [before], 10.0)
    sent = {fig1.channel_name(c): float(found.sent[c]) for c in found.known.tolist()}
    assert sent == {
        'switch "S0" port 5 -> switch "S4" port 1': 1000.0,
        'switch "S4" port 1 -> switch "S0" port 5': 0.0,
    }
    # The counter of port 6 went back: it was cleared in between.
    assert (found.cleared, found.seconds) == (1, 10.0)


def test_empty_files_are_passed_over_unless_all_are(fig1: Fabric, tmp_path: Path) -> None:
    _words(tmp_path / "node1", up=100)
    for name in ("node2", "node3"):
        (tmp_path / name).touch()
    found = carried(fig1, [tmp_path])
    assert (len(found.known), found.empty_files) == (1, 2)
    with pytest.raises(InputError, match=r"node2:1: expected counters .*, got an empty file"):
        carried(fig1, [tmp_path / "node2"])


def test_the_other_end_tells_what_a_port_does_not(fig1: Fabric, tmp_path: Path) -> None:
    file = tmp_path / "received"
    file.write_text("   GUID 0x200000004 port 1: [PortRcvData == 9]\n")
    found = carried(fig1, [file])
    assert [fig1.channel_name(c) for c in found.known.tolist()] == [
        'switch "S0" port 5 -> switch "S4" port 1'
    ]
    assert found.sent[found.known].tolist() == [36.0]


def test_a_folder_of_hosts_and_their_times(fig1: Fabric, tmp_path: Path) -> None:
    """Files of hosts are called after them; a host's port sends over its injection channel."""
    metric = "node_infiniband_port_data_transmitted_bytes_total"
    for name, stamp in (("early", 1_000), ("late", 31_000)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "H3.prom").write_text(f'{metric}{{device="mlx5_0",port="1"}} {stamp} {stamp}\n')
        _words(folder / "S0", up=stamp)
    found = carried(fig1, [tmp_path / "late"], [tmp_path / "early"])
    injection = 2 * fig1.cables + fig1.host_name.index("H3")
    assert found.sent[injection] == 30_000
    assert found.seconds == 30


def test_counters_of_another_network_are_refused(fig1: Fabric, tmp_path: Path) -> None:
    file = tmp_path / "other"
    file.write_text("   GUID 0x5 port 1: [PortXmitData == 9]\n")
    with pytest.raises(
        UsageError, match="1 port has counters, but none is at a cable between switches"
    ):
        carried(fig1, [file])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no file is in this folder"):
        carried(fig1, [tmp_path / "empty"])


def test_counters_of_errors_alone_are_told_as_such(fig1: Fabric, tmp_path: Path) -> None:
    """As ibqueryerrors prints without --counters, and an exporter without its base metrics."""
    file = tmp_path / "errors"
    file.write_text(
        "   GUID 0x200000000 port ALL: [SymbolErrorCounter == 4] [PortXmitWait == 9]\n"
        "   GUID 0x200000000 port 5: [SymbolErrorCounter == 3] [PortXmitWait == 9]\n"
        "   GUID 0x200000004 port 1: [LinkDownedCounter == 1]\n"
    )
    with pytest.raises(UsageError) as refused:
        carried(fig1, [file])
    assert str(refused.value) == (
        f"{file}: 2 ports of channels between switches of fig1 have counters (LinkDownedCounter, "
        "PortXmitWait, SymbolErrorCounter), but none of what they carry (PortXmitData, "
        "PortRcvData, or an exporter's metric of them); ibqueryerrors --counters prints them for "
        "all ports, perfquery -x for one"
    )
    file.write_text(
        "# TYPE infiniband_switch_port_symbol_error_total counter\n"
        'infiniband_switch_port_symbol_error_total{guid="0x200000000",port="5"} 3\n'
        'infiniband_exporter_collect_errors{collector="switch"} 0\n'
    )
    with pytest.raises(UsageError, match=r"1 port .* has counters \(infiniband_switch_port_symb"):
        carried(fig1, [file])


def test_full_counters_and_those_that_were_cleared_are_told(fig1: Fabric, tmp_path: Path) -> None:
    full = _words(tmp_path / "full", up=2**32 - 1, other=2**32 - 1)
    with pytest.raises(UsageError, match="PortXmitData is at its 32-bit limit"):
        carried(fig1, [full])
    found = carried(fig1, [_words(tmp_path / "one", up=2**32 - 1, other=7)])
    assert (found.full, len(found.known)) == (1, 1)
    # An exporter may have made bytes of the same.
    metric = 'infiniband_switch_port_transmit_data_bytes_total{guid="0x200000000",port='
    exported = tmp_path / "exported"
    exported.write_text(f'{metric}"5"}} {4 * (2**32 - 1)}\n{metric}"6"}} 8\n')
    assert carried(fig1, [exported]).full == 1
    early, late = _words(tmp_path / "early", up=9), _words(tmp_path / "late", up=3)
    with pytest.raises(UsageError, match="went back since the earlier reading: cleared"):
        carried(fig1, [late], [early])
    with pytest.raises(UsageError, match="but none of them in the earlier reading"):
        carried(fig1, [late], [_words(tmp_path / "down", down=1)])


def test_a_port_one_of_whose_counters_went_back_was_cleared(fig1: Fabric, tmp_path: Path) -> None:
    """It has sent more since than before, so that what it sent does not show it."""
    early, late = tmp_path / "early", tmp_path / "late"
    line = "   GUID {} port {}: [PortXmitData == {}] [PortRcvData == {}] [PortXmitWait == {}]\n"
    for path, sent, waited in ((early, 100, 50), (late, 120, 3)):
        path.write_text(
            line.format("0x200000000", 5, sent, sent, waited)
            + line.format("0x200000000", 6, 10 * sent, 1, 0)
        )
    found = carried(fig1, [late], [early])
    assert found.cleared == 1
    # What port 6 received is known too: nothing.
    names = {fig1.channel_name(c): float(found.sent[c]) for c in found.known.tolist()}
    assert sorted(names.values()) == [0.0, 800.0]
    assert all("port 6" in name for name in names)


def test_two_readings_compare_the_same_counter(fig1: Fabric, tmp_path: Path) -> None:
    """What one end sent until the first reading is not taken off what the other received since."""
    received = "   GUID 0x200000004 port 1: [PortRcvData == {}]\n"
    early, late = _words(tmp_path / "early", up=1000), _words(tmp_path / "late", up=2**32 - 1)
    early.write_text(early.read_text() + received.format(5))
    late.write_text(late.read_text() + received.format(7000))
    found = carried(fig1, [late], [early])
    assert found.sent[found.known].tolist() == [4 * 6995]


def test_both_ends_of_a_channel_may_differ_by_four(fig1: Fabric, tmp_path: Path) -> None:
    """The host's exporter tells bytes, the switch's words that pass for bytes."""
    host, switch = tmp_path / "H3.prom", tmp_path / "switches"
    out = fig1.host_name.index("H3")
    leaf, port = int(fig1.host_switch[out]), int(fig1.host_port[out])
    metric = "node_infiniband_port_data_transmitted_bytes_total"
    host.write_text(f'{metric}{{device="mlx5_0",port="1"}} 4e9\n')
    switch.write_text(
        "infiniband_switch_port_receive_data_bytes_total"
        f'{{guid="{int(fig1.switch_guid[leaf]):#x}",port="{port}"}} 1e9\n'
        'infiniband_switch_port_transmit_data_bytes_total{guid="0x200000000",port="5"} 1e9\n'
    )
    found = carried(fig1, [host, switch])
    assert (found.compared, found.fourfold) == (1, 1)
    assert list(found.units.values()) == [1, 1]
