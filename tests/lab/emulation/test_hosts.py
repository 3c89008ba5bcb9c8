"""The hosts of a network that is up as a place to measure."""

from __future__ import annotations

import pytest

from contend.base.errors import UsageError
from contend.lab.emulation import EmulatedHosts, bring_up
from contend.lab.emulation.headroom import connect
from contend.lab.mpi import HostRanks, Launch, select
from sample_fabrics import two_leaves

pytestmark = pytest.mark.usefixtures("permitted")

_RATE = 12.5e6


def test_a_measurement_sees_hosts_memory_and_what_crossed() -> None:
    with bring_up(two_leaves(), _RATE, check=False) as network:
        (first,) = connect(network._spaces, [(0, 1)])
        first.close()
        place = EmulatedHosts(network, [3, 1], ranks_per_host=2)
        assert (place.name, place.launcher, place.alone) == ("emulated:two leaves", "", False)
        assert place.slots == [("h3", 2), ("h1", 2)]
        assert place.counters()["packets"] == 0
        # 16 KiB at 12.5 MB/s.
        assert place.rest == pytest.approx(1.31e-3, rel=1e-2)
        with pytest.raises(UsageError, match="no host elsewhere"):
            network.on_hosts(Launch(select(), 1, hosts=(HostRanks("elsewhere", 1),)))
