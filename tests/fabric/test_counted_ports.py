"""What channels have carried: ports found by GUID, LID and name; two readings; both ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contend.errors import UsageError
from contend.fabric import Fabric, carried
from contend.loading import load
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
    with pytest.raises(UsageError, match="none of 1 port with counters is of a channel between"):
        carried(fig1, [file])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no file is in this folder"):
        carried(fig1, [tmp_path / "empty"])
