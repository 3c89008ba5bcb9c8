"""Routes that hashes draw: the kernel spreads connections over cables as the simulation does."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import contend
from contend.base.errors import MissingError, UsageError
from contend.base.process import run_process
from contend.fabric import Fabric
from contend.lab.emulation import bring_up, kernel, messages
from contend.lab.emulation.headroom import connect, fit
from contend.lab.emulation.layout import lay_out
from contend.lab.mpi import Launch, Library

from .messages_between import counts_towards, one_each

_RATE = 12.5e6
_CONNECTIONS = 256


def hashed(name: str) -> Fabric:
    return contend.load(name, route="ecmp")


def test_a_switch_has_every_cable_that_begins_a_shortest_way() -> None:
    layout = lay_out(hashed("xgft:2;2,2;1,2;1,2"))
    interface = {(end.node, end.index): end.interface for end in layout.ends}
    leaf = len(layout.hosts)
    tables = [[interface[leaf, index] for index in route.indices] for route in layout.routes[0]]
    # Two hosts of its own; the others over two cables to each of two spines.
    up = ["port3", "port4", "port5", "port6"]
    assert tables == [["port1"], ["port2"], up, up]


def test_chosen_hosts_bring_all_cables_that_may_be_used() -> None:
    layout = lay_out(hashed("xgft:3;2,2,2;1,2,2"), [0, 2])
    names = [node.name for node in layout.nodes[2:]]
    # Of one group: two leaves, and both switches that join them.
    assert names == ["leaf 1", "leaf 2", "middle 1", "middle 2"]
    assert len(layout.cables) == 4 + 2
    way = layout.way(0, 1)
    assert (way.length, len(way.channels)) == (4, 6)


@pytest.mark.usefixtures("permitted")
def test_connections_take_every_way_as_often() -> None:
    """Two choices one after the other: each of four ways has a binomial number of connections."""
    fabric = hashed("xgft:3;2,2,2;1,2,2")
    with bring_up(fabric, _RATE, check=False) as network:
        before = network.counters()
        streams = connect(network._spaces, [(0, 7)] * _CONNECTIONS)
        opened = network.counters() - before
        for stream in streams:
            stream.close()
        assert network.remarks == () or "hashes alike" in network.remarks[0]
        alike = bool(network.remarks)
    # Two packets each open a connection from its side, a third comes back by a way of its own.
    up = counts_towards(fabric, "leaf 1", "middle", opened.packets)
    assert sum(up) == 2 * _CONNECTIONS
    half, deviation = _CONNECTIONS / 2, (_CONNECTIONS / 4) ** 0.5
    assert np.array(up) / 2 == pytest.approx([half, half], abs=5 * deviation)
    if not alike:
        tops = [
            count
            for middle in ("middle 1", "middle 2")
            for count in counts_towards(fabric, middle, "top", opened.packets)
        ]
        quarter, deviation = _CONNECTIONS / 4, (_CONNECTIONS * 3 / 16) ** 0.5
        assert np.array(tops) / 2 == pytest.approx([quarter] * 4, abs=5 * deviation)
    # Whatever way it takes, a packet crosses one cable a step.
    assert sum(counts_towards(fabric, "top", "middle", opened.packets)) == 3 * _CONNECTIONS


@pytest.mark.usefixtures("permitted")
def test_switches_that_hash_alike_leave_half_of_the_ways_unused() -> None:
    """What the leaf chooses decides what the middle switch does: polarisation."""
    fabric = contend.load("xgft:3;2,2,2;1,2,2", route="ecmp,seed=shared")
    with bring_up(fabric, _RATE, check=False) as network:
        streams = connect(network._spaces, [(0, 7)] * _CONNECTIONS)
        opened = network.counters()
        for stream in streams:
            stream.close()
        assert network.remarks == ()
    up = [counts_towards(fabric, f"middle {number}", "top", opened.packets) for number in (1, 2)]
    assert [sorted(each)[0] for each in up] == [0, 0]
    assert sum(map(sum, up)) == 2 * _CONNECTIONS


@pytest.mark.usefixtures("permitted")
def test_a_library_with_one_connection_for_a_pair_is_refused() -> None:
    fabric = contend.load("xgft:2;2,2;1,2", route="ecmp,flows=4")
    mpich = Library("PATH", "mpicc", usable=True, name="MPICH", launcher="mpiexec")
    with bring_up(fabric, _RATE, check=False) as network:
        (told,) = network.remarks
        assert told.startswith("ranks of Open MPI that contend starts have 4 connections")
        with pytest.raises(UsageError, match=r"MPICH has one connection .* these routes need 4"):
            network.on_hosts(Launch(mpich, 4))


_EXCHANGE = """
#include <mpi.h>
static char sent[1 << 22], got[1 << 22];
int main(int count, char** words) {
  int rank, ranks;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int other = ranks - 1 - rank;
  MPI_Sendrecv(sent, sizeof sent, MPI_CHAR, other, 0, got, sizeof got, MPI_CHAR, other, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
"""


@pytest.mark.usefixtures("permitted")
def test_an_exchange_takes_the_ways_of_all_connections(
    tmp_path: Path, require_program: Callable[[str], str]
) -> None:
    """Also where both ranks would open theirs at once, of which Open MPI alone makes a muddle."""
    compiler = require_program("mpicc.openmpi")
    source, program = tmp_path / "exchange.c", tmp_path / "exchange"
    source.write_text(_EXCHANGE)
    assert run_process([compiler, str(source), "-o", str(program)], os.environ, 60.0).status == 0
    # Both hosts have four ways; of 32 connections each has some, but for one time in 2,500.
    fabric = contend.load("xgft:2;1,2;1,4", route="ecmp,flows=32")
    found = contend.emulate(
        fabric,
        ["timeout", "60", str(program)],
        ranks=2,
        mpi="openmpi-4",
        rate=_RATE,
        unchecked=True,
    )
    assert found.status == 0
    crossed = np.array([channel.bytes for channel in found.traffic.channels], np.uint64)
    for leaf in ("leaf 1", "leaf 2"):
        up = counts_towards(fabric, leaf, "top", crossed)
        assert sum(up) > 1 << 22
        assert min(up) > (1 << 22) / 32 / 2


@pytest.mark.usefixtures("permitted")
def test_one_message_for_every_pair_crosses_one_cable_a_step() -> None:
    fabric = hashed("xgft:2;4,4;1,2;1,2")
    with bring_up(fabric, _RATE, check=False) as network:
        assert one_each(network, 1000) == 16 * 15
        sent = network.counters()
    for leaf in ("leaf 1", "leaf 2", "leaf 3", "leaf 4"):
        # Four hosts to twelve others, over four cables.
        assert sum(counts_towards(fabric, leaf, "top", sent.packets)) == 48
    simulated = contend.simulate(fabric, "alltoall", placement="linear", samples=400)
    frame = simulated.to_frame("channels")
    loads = np.zeros(fabric.channels)
    loads[frame["channel"].to_numpy()] = frame["load"].to_numpy()
    # Each cable up or down carries 48 messages over 4 cables in the mean: 12, deviation 3.
    between = slice(0, 2 * fabric.cables)
    assert loads[between] == pytest.approx(12, abs=1)
    assert sent.packets[between] == pytest.approx(loads[between], abs=5 * 3)
    np.testing.assert_array_equal(sent.packets[2 * fabric.cables :], 15)


@pytest.mark.usefixtures("permitted")
def test_what_the_machine_carries_is_tried_on_pairs_that_no_hash_lets_meet() -> None:
    fabric = hashed("xgft:2;4,4;1,4")
    with bring_up(fabric, 1.25e6, check=False) as network:
        settings, headroom = fit(network._spaces, network.settings)
    assert settings.rate <= 1.25e6
    assert headroom.moved > 0
    assert headroom.needed == pytest.approx(1.25e6 * 16 * 4)


@pytest.mark.usefixtures("permitted")
def test_a_kernel_that_hashes_alike_everywhere_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "is_known", lambda name: False)
    with bring_up(hashed("xgft:2;2,2;1,2"), _RATE, check=False) as network:
        (remark,) = network.remarks
    assert "hashes alike at all switches" in remark


@pytest.mark.usefixtures("permitted")
def test_a_kernel_without_routes_over_several_cables_is_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = messages.route

    def unknown(*given: object) -> kernel.KernelRequest:
        request = made(*given)  # type: ignore[arg-type]
        if "multipath" not in request.what:
            return request
        # A next hop at an interface that is not there, as good as a kernel that knows none.
        data = request.data.replace((13).to_bytes(4, "little"), (9999).to_bytes(4, "little"))
        return kernel.KernelRequest(data, request.what)

    monkeypatch.setattr(messages, "route", unknown)
    with (
        pytest.raises(MissingError, match=r"the route to 10\.1\.0\.3 over 2 cables"),
        bring_up(hashed("xgft:2;2,2;1,2"), _RATE, check=False),
    ):
        pass
