"""Seats by whole servers, for rings and all-to-alls within rails."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.congestion import simulate
from contend.cure import place
from contend.fabric import Fabric
from contend.routes import load
from contend.traffic.placement import Placement, by_server, parse


def interleaved(units: int, servers: int, rails: int, spines: int, route: str) -> Fabric:
    """Servers named by turns on the units: n01 on the first, n02 on the second."""
    made = load(f"rails:{units},{servers},{rails},{spines}", route=route)
    unit, number = np.divmod(np.arange(made.hosts) // rails, servers)
    names = (units * number + unit + 1).tolist()
    words = [f"n{name:02} mlx5_{host % rails}" for host, name in enumerate(names)]
    return made.replace(host_name=tuple(words))


def share(fabric: Fabric, pattern: str, hosts: object) -> float:
    """What the slowest message gets when all of a round are under way, by a simulation."""
    found = simulate(fabric, pattern, placement=Placement("given", np.asarray(hosts)))
    return 1 / float(found.round_max_congestion.sum())


@pytest.mark.parametrize("spec", [(2, 8, 4, 2), (4, 16, 8, 8)])
def test_the_order_found_gets_more_than_that_of_names(spec: tuple[int, int, int, int]) -> None:
    fabric = interleaved(*spec, "minhop")
    units, servers, rails, _ = spec
    better = place(None, fabric)
    assert better.rails == rails
    given, found = better.given, better.placement.hosts
    assert given.tolist() == parse("servers", fabric).hosts.tolist()
    rings, all_to_alls = better.shares
    assert rings.before == pytest.approx(share(fabric, f"{rails} * ring", given))
    assert rings.after == pytest.approx(share(fabric, f"{rails} * ring", found))
    assert rings.before < 0.6
    assert rings.after == pytest.approx(1)
    blocks = units * servers - 1
    within = share(fabric, f"{rails} * alltoall", found) * blocks
    assert all_to_alls.after == pytest.approx(within)
    # All servers take part, so that the order changes nothing.
    assert all_to_alls.before == pytest.approx(all_to_alls.after)
    assert better.after.busy < better.before.busy
    # Whole servers, each with its adapters by rail.
    rows = sorted(found.reshape(-1, rails).tolist())
    assert rows == sorted(by_server(fabric, np.arange(fabric.hosts)).tolist())


def test_a_server_that_lacks_an_adapter_is_counted() -> None:
    fabric = interleaved(2, 3, 2, 1, "dmodk")
    hosts = list(range(fabric.hosts))[1:]
    said = "1 server does not take part: it has 1 adapter, where the others have 2."
    for source in (None, "2 * ring"):
        better = place(source, fabric, hosts=hosts)
        assert better.left_out == said
        assert str(better.document().verdict).endswith(said)
    assert place(None, fabric).left_out == ""


def test_best_of_all_servers_and_orders() -> None:
    """Four of six servers on two units: every choice in every order, by two simulations."""
    fabric = interleaved(2, 3, 2, 1, "dmodk")
    better = place(None, fabric, ranks=8)
    rows = by_server(fabric, parse("linear", fabric).hosts)

    def time(order: tuple[int, ...]) -> float:
        hosts = rows[list(order)].ravel()
        # As many bytes a rank in both: the blocks of an all-to-all are a third as large.
        return 1 / share(fabric, "2 * ring", hosts) + 1 / 3 / share(fabric, "2 * alltoall", hosts)

    every = [order for some in combinations(range(6), 4) for order in permutations(some)]
    found = better.placement.hosts.reshape(-1, 2).tolist()
    assert time(tuple(rows.tolist().index(row) for row in found)) == pytest.approx(
        min(map(time, every))
    )
    assert better.saved > 0


def test_a_pattern_on_each_rail_moves_whole_servers() -> None:
    fabric = interleaved(2, 4, 2, 1, "minhop")
    better = place("2 * ring", fabric)
    assert (better.rails, better.shares) == (2, ())
    assert (better.placement.hosts.reshape(-1, 2) % 2 == [0, 1]).all()
    assert share(fabric, "2 * ring", better.placement.hosts) == 1 > better.after.busy - 1
    # Any other pattern has a rank on each adapter, which may go anywhere.
    assert place("ring", fabric).rails == 0
    assert place("4 * ring", fabric).rails == 0


def test_what_is_no_servers_is_refused() -> None:
    fabric = interleaved(2, 4, 2, 1, "minhop")
    with pytest.raises(UsageError, match="expected 4 to 16 ranks, 2 for each server, one an ad"):
        place(None, fabric, ranks=5)
    with pytest.raises(UsageError, match="one an adapter; got 18"):
        place(None, fabric, ranks=18)
    with pytest.raises(UsageError, match="two servers or more with 2 adapters to choose from, got"):
        place(None, fabric, hosts=[0, 1])
    with pytest.raises(UsageError, match="one rank on each adapter"):
        place(None, fabric, ranks_per_host=2)
    with pytest.raises(UsageError, match="have one adapter each: expected a profile"):
        place(None, load("xgft:2;4,4;1,2", route="minhop"))
    # All adapters of one rail.
    with pytest.raises(UsageError, match="have one adapter each: expected a profile"):
        place(None, fabric, hosts="*mlx5_1")


def test_servers_chosen_are_among_those_given() -> None:
    fabric = interleaved(2, 4, 2, 1, "minhop")
    better = place(None, fabric, hosts="n0[2-7]", ranks=6)
    names = {fabric.host_name[host].split()[0] for host in better.placement.hosts}
    assert names <= {f"n0{number}" for number in range(2, 8)}
    assert better.given.tolist() == parse("servers", fabric, hosts="n0[2-4]").hosts.tolist()
