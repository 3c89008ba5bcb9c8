"""Links of different rates: shares by rate over load and max-min, in parts of the slower port."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.congestion import (
    Links,
    draw_patterns,
    fair_share,
    fluid_times,
    hottest,
    link_rates,
    message_congestion,
    message_shares,
    simulate,
)
from contend.congestion.rates import rated
from contend.fabric import Fabric, capacities, switch_levels
from contend.routes import load
from counting import route
from small_fabrics import fat_tree, routed

QDR, DDR, SDR = 4e9, 2e9, 1e9
"""Bytes per second of four lanes after line coding: 8, 4 and 2 of 10, 5 and 2.5 Gbit/s each."""


def _numbers(links: tuple[Links, ...]) -> dict[str, int]:
    return {of_rate.rate: of_rate.links for of_rate in links}


def mixed(*, slow_hosts: tuple[int, ...] = (), unknown: tuple[int, ...] = ()) -> Fabric:
    """Three leaves of four hosts under two spines at 4xQDR; every third cable is 4xDDR."""
    fabric = fat_tree(3, 4, 2)
    cable = fabric.cable_rate.copy()
    cable[::3] = 2
    cable[list(unknown)] = 0
    host = fabric.host_rate.copy()
    host[list(slow_hosts)] = 3
    rates = ("", "4xQDR", "4xDDR", "4xSDR")
    made = fabric.replace(rates=rates, cable_rate=cable, host_rate=host)
    return routed(made)


def shares_by_hand(fabric: Fabric, messages: list[tuple[int, int]]) -> list[Fraction]:
    """Least of rate over load, over the channels of every route, over the slower port."""
    capacity = capacities(fabric)
    rate = np.concatenate([np.repeat(capacity.cable, 2), capacity.host, capacity.host])
    routes = [route(fabric, source, target) for source, target in messages]
    load = {c: sum(c in other for other in routes) for channels in routes for c in channels}
    return [
        min(Fraction(int(rate[c])) / load[c] for c in channels)
        / Fraction(int(min(rate[channels[0]], rate[channels[-1]])))
        for channels in routes
    ]


def test_a_message_gets_the_least_of_rate_over_load_in_parts_of_the_slower_port() -> None:
    fabric = mixed(slow_hosts=(5, 9))
    messages = [(0, 4), (1, 5), (2, 8), (3, 9), (4, 1), (5, 2), (8, 6), (9, 7)]
    source, target = zip(*messages, strict=True)
    counted = message_congestion(fabric, source, target)
    by_hand = [float(share) for share in shares_by_hand(fabric, messages)]
    assert counted.bandwidth.tolist() == pytest.approx(by_hand, rel=1e-12)
    assert len(set(by_hand)) > 2
    alike = message_congestion(fabric, source, target, equal_rates=True)
    assert alike.congestion.tolist() == counted.congestion.tolist()
    assert alike.bandwidth.tolist() == (1 / counted.congestion).tolist()
    fair = fair_share(fabric, source, target)
    assert (fair >= counted.bandwidth - 1e-12).all()
    assert fair.max() <= 1 + 1e-12


def test_max_min_shares_of_a_slow_cable_leave_the_rest_to_the_others() -> None:
    """Two messages share a 4xQDR cable of rate 1; one goes on over a cable of rate 1/4."""
    fabric = fat_tree(3, 4, 1)
    cable = fabric.cable_rate.copy()
    # Cable k joins leaf k with the only spine: 0 -> 4 ends at leaf 1 and 1 -> 8 at leaf 2.
    cable[1] = 2
    made = fabric.replace(rates=("", "4xQDR", "4xSDR"), cable_rate=cable)
    made = routed(made)
    assert message_congestion(made, [0, 1], [4, 8]).bandwidth.tolist() == [0.25, 0.5]
    assert fair_share(made, [0, 1], [4, 8]).tolist() == [0.25, 0.75]
    # Sizes 1 and 3: both at 4, in units of what size 1 takes alone between two ports.
    assert fluid_times(made, [0, 1], [4, 8], size=[1, 3]).tolist() == [4.0, 4.0]


def test_a_simulation_averages_what_every_message_of_its_samples_gets() -> None:
    fabric = mixed(slow_hosts=(5, 9))
    found = simulate(fabric, "bisect", samples=40, seed=3)
    ports = capacities(fabric).host
    shares, rates = [], []
    for sample in draw_patterns(fabric, "bisect", count=40, seed=3):
        source, target = sample.between_hosts(0)
        share = message_congestion(fabric, source, target).bandwidth
        shares.append(share.mean())
        rates.append((share * np.minimum(ports[source], ports[target])).mean())
    assert found.bandwidth == pytest.approx(shares, rel=1e-12)
    assert found.bytes_per_second == pytest.approx(rates, rel=1e-12)
    assert found.effective_bandwidth.mean_Bps == pytest.approx(np.mean(rates), rel=1e-12)
    assert _numbers(found.links) == {"4xQDR": 14, "4xDDR": 2, "4xSDR": 2}
    assert found.weighed_by_rates
    assert found.port_rate is None


def test_counted_alike_it_is_what_a_fabric_of_equal_rates_gives() -> None:
    fabric = mixed(slow_hosts=(5,))
    equal = fabric.replace(rates=("", "4xQDR", "4xQDR", "4xQDR"))
    alike = simulate(fabric, "bisect", samples=50, equal_rates=True)
    same = simulate(equal, "bisect", samples=50)
    assert alike.bandwidth.tolist() == same.bandwidth.tolist()
    assert alike.effective_bandwidth.of_max_congestion == same.effective_bandwidth.of_max_congestion
    # Nothing says which of its rates such a share is of.
    assert alike.effective_bandwidth.mean_Bps is None
    assert same.effective_bandwidth.mean_Bps == same.effective_bandwidth.mean * QDR
    given = simulate(fabric, "bisect", samples=50, rate=DDR)
    assert given.bandwidth.tolist() == same.bandwidth.tolist()
    assert given.effective_bandwidth.mean_Bps == same.effective_bandwidth.mean * DDR


def test_where_a_rate_is_not_known_all_links_count_alike() -> None:
    fabric = mixed(unknown=(1,))
    found = simulate(fabric, "bisect", samples=50)
    assert not found.weighed_by_rates
    assert _numbers(found.links) == {"4xQDR": 15, "4xDDR": 2, "": 1}
    assert found.effective_bandwidth.mean_Bps is None


def test_a_cable_from_a_switch_to_itself_and_hosts_that_stay_away_do_not_count() -> None:
    fabric = mixed(slow_hosts=(11,))
    columns = {"cable_to": fabric.cable_from.copy(), "cable_rate": fabric.cable_rate.copy()}
    loops = fabric.replace(**columns, cable_to_port=np.arange(11, 11 + fabric.cables))
    rates = link_rates(loops, np.arange(4))
    assert _numbers(rates.links) == {"4xQDR": 4}
    assert rates.port == QDR
    assert len(link_rates(fabric, np.arange(12)).links) == 3


def test_a_rate_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="expected a rate above 0, got 0"):
        simulate(mixed(), "bisect", samples=1, rate=0)


def test_predictions_say_what_part_of_the_fastest_port_the_slower_one_is() -> None:
    fabric = mixed(slow_hosts=(5,))
    frame = message_shares(fabric, draw_patterns(fabric, "shift:4", placement="linear", count=1))
    assert frame["port"].to_list() == [0.25 if 5 in ends else 1.0 for ends in _ends(frame)]
    assert (frame["fair_share"] >= frame["share"] - 1e-12).all()


def _ends(frame: object) -> list[tuple[int, int]]:
    return list(zip(frame["source_host"], frame["target_host"], strict=True))  # type: ignore[index]


def one_slow_cable(rate: str, *, unknown: tuple[int, ...] = ()) -> Fabric:
    """Three leaves of four hosts under two spines at 4xHDR; cable 2 (leaf 1) has another rate."""
    fabric = fat_tree(3, 4, 2)
    cable = np.ones(fabric.cables, dtype=np.uint16)
    cable[2] = 2
    cable[list(unknown)] = 0
    made = fabric.replace(rates=("4x???", "4xHDR", rate), cable_rate=cable)
    return routed(made)


def test_the_hottest_channel_is_the_one_that_needs_most_time() -> None:
    """Two hosts of leaf 1 take part, so that its cables carry least; 1xSDR is 4xHDR over 100."""
    hosts = [*range(6), *range(8, 12)]
    found = simulate(one_slow_cable("1xSDR"), "alltoall", hosts=hosts)
    load, heat = found.channel_load[:12], found.channel_heat[:12]
    assert load[[4, 5]].max() < load.max()
    assert sorted(hottest(found.channel_heat, 2)) == [4, 5]
    assert heat[[4, 5]].tolist() == pytest.approx((100 * load[[4, 5]]).tolist())
    others = np.setdiff1d(np.arange(12), (4, 5))
    assert heat[others].tolist() == load[others].tolist()
    assert found.to_frame("channels")["channel"][0] in (4, 5)
    assert (found.heat_unit, found.heat_assumes) == ("4xHDR", ())


def test_where_links_are_alike_heat_is_the_load() -> None:
    for fabric in (one_slow_cable("4xHDR"), one_slow_cable("2xNDR"), one_slow_cable("4x???")):
        found = simulate(fabric, "alltoall")
        assert found.channel_heat.tolist() == found.channel_load.tolist()
        assert found.heat_unit == ""
    slow = one_slow_cable("1xSDR")
    for counted in (
        simulate(slow, "alltoall", equal_rates=True),
        simulate(slow, "alltoall", rate=1e9),
    ):
        assert counted.channel_heat.tolist() == counted.channel_load.tolist()


def test_heat_takes_an_unknown_rate_for_that_of_most_links_of_its_kind() -> None:
    """Hosts have 4xEDR, cables 4xHDR but for one of 1xSDR and one that is not known."""
    fabric = one_slow_cable("1xSDR", unknown=(5,))
    fabric = fabric.replace(
        rates=(*fabric.rates, "4xEDR"), host_rate=np.full(fabric.hosts, 3, dtype=np.uint16)
    )
    rates = link_rates(fabric)
    assert (rates.unit, rates.assumed) == ("4xEDR", ("4xHDR",))
    # In parts of 12.5 GB/s: 25, but 0.25 for cable 2.
    expected = np.full(12, 2.0)
    expected[[4, 5]] = 0.02
    assert rates.relative[:12].tolist() == pytest.approx(expected.tolist())
    assert rates.relative[12:].tolist() == [1.0] * 24
    # Messages count all links alike then, as nothing is known for sure.
    found = simulate(fabric, "alltoall")
    assert not found.weighed_by_rates
    assert hottest(found.channel_heat[:12], 12)[:2] in ([4, 5], [5, 4])


def test_links_of_hosts_that_stay_away_set_no_unit() -> None:
    fabric = one_slow_cable("1xSDR")
    fabric = fabric.replace(
        rates=(*fabric.rates, "4xNDR"),
        host_rate=np.array([3] + [1] * 11, dtype=np.uint16),
    )
    assert link_rates(fabric).unit == "4xNDR"
    assert link_rates(fabric, np.arange(1, 12)).unit == "4xHDR"


def test_an_explicit_hottest_channel_is_the_slow_one() -> None:
    found = simulate(one_slow_cable("1xSDR"), "alltoall", channels=["hottest"])
    (user,) = found.channels
    assert user.channel in (4, 5)
    assert user.slowness == 100
    assert user.heat == pytest.approx(100 * user.messages_per_round)


def test_rates_of_kinds_of_cables() -> None:
    """Two leaves of four under two spines: ports at 400, cables at 800 Gbit/s carry both of two
    messages at the port's rate, where one rate for all gives a half."""
    fabric = routed(fat_tree(2, 4, 2))
    alike, by_kind = (
        simulate(fabric, "shift:4", placement="linear", rate=rate)
        for rate in ("400GbE", "hosts=400GbE,switches=800Gbit/s")
    )
    assert alike.effective_bandwidth.mean == pytest.approx(0.5)
    assert by_kind.effective_bandwidth.mean == pytest.approx(1.0)
    assert _numbers(by_kind.links) == {"800GbE": 4, "400GbE": 8}
    whole, every = rated(fabric, "12.5GB/s")
    assert (whole, every) == (fabric, 12.5e9)


def test_rates_of_levels_and_which_counts() -> None:
    """Cables up to level 3 alone are named last: those to level 2 keep what is said before."""
    tree = load("fattree3:4")
    found, every = rated(tree, "switches=4xHDR, level3=4xNDR")
    level = switch_levels(tree)
    upper = np.maximum(level[tree.cable_from], level[tree.cable_to])
    labels = np.array(found.rates)[found.cable_rate]
    assert every is None
    assert set(labels[upper == 3]) == {"4xNDR"}
    assert set(labels[upper == 2]) == {"4xHDR"}
    assert (found.host_rate == tree.host_rate).all()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("level4=4xNDR", "level4=4xNDR: fattree3:4 has no such cable"),
        ("spines=4xNDR", "expected a rate, or rates such as .*, got 'spines=4xNDR'"),
        ("hosts=fast", "expected a rate such as .*, got 'fast'"),
        ("hosts=4xNDR,", "expected a rate, or rates such as .*, got ''"),
    ],
)
def test_rates_of_no_cable(words: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        rated(load("fattree3:4"), words)
