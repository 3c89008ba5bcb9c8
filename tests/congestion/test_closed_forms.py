"""Throughput of direct networks under uniform and adversarial traffic, by formulas.

Throughput is the share of its port's rate at which every host may send before the fullest channel
is full: of a round of messages, 1 over the largest pi.
"""

from __future__ import annotations

import numpy as np
import pytest

import contend
from contend.congestion import simulate
from contend.fabric import Fabric
from contend.traffic.pattern import Pattern, parse


def throughput(fabric: Fabric, traffic: str | Pattern) -> float:
    """Of an all-to-all, which is uniform traffic, in messages of a host at once."""
    pattern = parse(traffic, fabric.hosts) if isinstance(traffic, str) else traffic
    found = simulate(fabric, pattern, placement="linear", samples=1)
    return pattern.scale / float(found.max_congestion.max())


@pytest.mark.parametrize(("p", "a", "h"), [(1, 3, 1), (2, 4, 2), (3, 6, 3), (1, 4, 2)])
def test_minimal_routes_on_dragonflies(p: int, a: int, h: int) -> None:
    """Kim et al. 2008, sections 3 and 4.

    All channels of a kind carry the same of uniform traffic. A pair of groups has one channel for
    its (a p)^2 messages. A local channel carries p^2 messages between its switches, and p of each
    to, and from, a p hosts behind each of h global channels.
    """
    groups = a * h + 1
    hosts = a * p * groups
    fabric = contend.load(f"dragonfly:{p},{a},{h}", route="spray,by=groups")
    fullest = max(hosts - 1, (a * p) ** 2, p * p * (1 + 2 * a * h))
    assert throughput(fabric, "alltoall") == pytest.approx((hosts - 1) / fullest)
    assert throughput(fabric, f"shift:{a * p}") == pytest.approx(1 / (a * p))


@pytest.mark.parametrize("h", [2, 3, 4])
def test_any_group_on_balanced_dragonflies(h: int) -> None:
    """Kim et al. 2008, section 4: about 1/2 where local channels do not fill first.

    Of the messages of a group, 2 a p / g cross every global channel: to it as an intermediate group
    and from it. In the absolute arrangement those that enter a switch by its last channel leave by
    the next switch; with traffic to the h-th next group, all of them do: that channel carries h a
    p / g, beside what begins and ends there (Garcia et al., On-the-fly adaptive routing in
    high-radix hierarchical networks, ICPP 2012: at most 1/h).
    """
    p, a, groups = h, 2 * h, 2 * h * h + 1
    fabric = contend.load(f"dragonfly:{p},{a},{h}", route="valiant,by=groups")
    of_channel = groups / (2 * a * p)
    crossing = (a * p * groups - 1) / (a * p * groups - p)
    assert throughput(fabric, "alltoall") == pytest.approx(of_channel * crossing, abs=2e-3)
    assert of_channel - 0.07 < throughput(fabric, f"shift:{a * p}") <= of_channel
    through = h * a * p / groups
    begins, ends = p * h / groups, p * h / groups
    expected = 1 / (through + begins + ends)
    assert throughput(fabric, f"shift:{a * p * h}") == pytest.approx(expected, rel=0.02)
    assert throughput(fabric, f"shift:{a * p * h}") <= 1 / h


@pytest.mark.parametrize("h", [2, 3, 4])
def test_choosing_by_load_on_balanced_dragonflies(h: int) -> None:
    """Kim et al. 2008, section 4.2 and figure 8: UGAL-G gets what the better of both gets.

    That is all of uniform traffic, and about 1/2 of what goes to the next group.
    """
    p, a = h, 2 * h
    fabric = contend.load(f"dragonfly:{p},{a},{h}", route="ugal,by=groups")
    assert throughput(fabric, "alltoall") == pytest.approx(1)
    assert 0.46 < throughput(fabric, f"shift:{a * p}") < 0.55


@pytest.mark.parametrize(("spec", "size"), [("ring:7", 7), ("ring:8", 8), ("torus:6x6", 6)])
def test_tornado_on_tori(spec: str, size: int) -> None:
    """Dally and Towles, Principles and practices of interconnection networks, sections 3.2 and 9.3.

    Minimal routes send all messages the same way round. Valiant's load every channel of a
    dimension with twice a quarter of its size, in the mean over both ways: of odd sizes k with
    (k^2 - 1) / 4 k.
    """
    ahead = (size + 1) // 2 - 1
    around = size / 4 if size % 2 == 0 else (size * size - 1) / (4 * size)
    minimal, valiant = (contend.load(spec, route=route) for route in ("spray", "valiant"))
    host = np.arange(minimal.hosts)
    tornado = Pattern.from_destinations(host // size * size + (host % size + ahead) % size)
    assert throughput(minimal, tornado) == pytest.approx(1 / ahead)
    assert throughput(valiant, tornado) == pytest.approx(1 / around, rel=2e-3)
    hosts = minimal.hosts
    uniform = min(1, 2 / around * (hosts - 1) / hosts)
    assert throughput(minimal, "alltoall") == pytest.approx(uniform, rel=2e-3)


@pytest.mark.parametrize("spec", ["hyperx:8;8", "hyperx:4x4;4", "hyperx:3x3x3;3"])
def test_neighbours_on_hyperx(spec: str) -> None:
    """Kim, Dally, Abts, Flattened butterfly, ISCA 2007, section 3.

    With as many hosts on a switch as switches in a line, k, minimal routes to the next switch get
    1/k and Valiant's 1/2; uniform traffic gets 1.
    """
    size = int(spec.split(";")[1])
    minimal, valiant = (contend.load(spec, route=route) for route in ("spray", "valiant"))
    hosts = minimal.hosts
    line = np.arange(hosts) // (size * size) * (size * size)
    to_next = line + (np.arange(hosts) - line + size) % (size * size)
    neighbours = Pattern.from_destinations(to_next)
    assert throughput(minimal, neighbours) == pytest.approx(1 / size)
    assert throughput(valiant, neighbours) == pytest.approx(1 / 2, abs=1e-3)
    assert throughput(minimal, "alltoall") == pytest.approx((hosts - 1) / hosts, rel=1e-3)


@pytest.mark.parametrize(("q", "hosts"), [(5, 4), (7, 6)])
def test_slim_flies(q: int, hosts: int) -> None:
    """Besta and Hoefler, Slim Fly, SC 2014, section II.

    Of p^2 messages between any two of N switches with k neighbours each, the mean channel carries
    p^2 (2 N - k - 2) / k.

    A perfect matching of neighbours, which is not theirs, puts p messages on one channel.
    """
    switches, degree = 2 * q * q, (3 * q - {1: 1, 3: -1}[q % 4]) // 2
    minimal, valiant = (contend.load(f"slimfly:{q};{hosts}", route=r) for r in ("spray", "valiant"))
    mean = hosts**2 * (2 * switches - degree - 2) / degree
    found = simulate(minimal, "alltoall", placement="linear", samples=1)
    load = found.channel_load[: 2 * minimal.cables]
    assert load.mean() == pytest.approx(mean)
    assert throughput(minimal, "alltoall") <= (switches * hosts - 1) / mean + 1e-9
    # (0, x, y) and (1, x, y - x^2) are neighbours, in the numbering of the generator.
    x, y = np.divmod(np.arange(q * q), q)
    partner = np.empty(switches, dtype=np.int64)
    partner[: q * q] = q * q + x * q + (y - x * x) % q
    partner[partner[: q * q]] = np.arange(q * q)
    host = np.arange(minimal.hosts)
    matching = Pattern.from_destinations(partner[host // hosts] * hosts + host % hosts)
    assert throughput(minimal, matching) == pytest.approx(1 / hosts)
    # Two rounds of uniform traffic, of 1/N of what the hosts of a switch send to every switch.
    around = simulate(valiant, matching, placement="linear").channel_load[: 2 * valiant.cables]
    assert around.mean() == pytest.approx(2 * mean / (hosts * switches), abs=2e-3)
