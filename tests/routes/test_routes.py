"""Routes as the congestion rooms see them, and what is said when there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from contend.base.errors import UsageError
from contend.fabric import Fabric, make
from contend.routes import NO_PORT, compute, find_route, make_resolver, tables_of
from contend.routes import tables as room
from small_fabrics import crossbar, fat_tree, ring, routed, torus


def hosts(fabric: Fabric) -> np.ndarray:
    return np.arange(fabric.hosts, dtype=np.uint32)


def without_entry(fabric: Fabric, switch: int, host: int) -> Fabric:
    tables = tables_of(fabric)
    ports = tables.ports.copy()
    ports[switch, fabric.host_lid[host]] = NO_PORT
    return fabric.replace(routes=replace(tables, ports=ports))


def test_small_fabric_gets_a_table() -> None:
    """4 leaves, 12 hosts, two channels of 2 bytes: 4 * 12 * 2 * 2 bytes."""
    made = make_resolver(routed(fabric := fat_tree(4, 3, 2)), hosts(fabric))
    assert (made.places, made.stride, made.bytes) == (12, 2, 192)


def test_stride_is_the_longest_route() -> None:
    """On a ring of 9 the farthest host is 4 channels away; tables hold an even number."""
    fabric = routed(ring(9, 1))
    assert make_resolver(fabric, hosts(fabric)).stride == 4
    assert make_resolver(fabric, hosts(fabric), messages=0).stride == 4
    assert make_resolver(routed(crossbar(3)), hosts(crossbar(3))).stride == 2


def test_few_messages_are_not_worth_a_table() -> None:
    fabric = routed(fat_tree(4, 3, 2))
    assert not make_resolver(fabric, hosts(fabric), messages=11).tabled
    assert make_resolver(fabric, hosts(fabric), messages=12).tabled


def test_the_last_resolver_is_kept_for_the_same_hosts_of_the_same_fabric() -> None:
    fabric = routed(fat_tree(4, 3, 2))
    some = hosts(fabric)
    kept = make_resolver(fabric, some)
    assert make_resolver(fabric, hosts(fabric)) is kept
    # A table is good for few messages, too.
    assert make_resolver(fabric, hosts(fabric), messages=11) is kept
    # Other cables, routed alike, or other hosts, also those that the caller changes in place.
    assert make_resolver(fabric.replace(name="other"), hosts(fabric)) is not kept
    kept = make_resolver(fabric, some)
    some[:2] = some[1::-1]
    assert make_resolver(fabric, some) is not kept
    assert make_resolver(fabric, some).places == fabric.hosts
    assert make_resolver(fabric, some[:3]).places == 3


def test_a_large_resolver_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = routed(fat_tree(4, 3, 2))
    monkeypatch.setattr(room, "_LARGEST_KEPT", 191)
    kept = make_resolver(fabric, hosts(fabric))
    assert make_resolver(fabric, hosts(fabric)) is not kept


def test_table_too_large_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = routed(fat_tree(4, 3, 2))
    monkeypatch.setattr(room, "_LARGEST_TABLE", 191)
    assert not make_resolver(fabric, hosts(fabric)).tabled


@pytest.mark.parametrize("spec", ["fattree3:24", "thunderbird"])
def test_a_large_table_is_factored(spec: str) -> None:
    """Leaves share what tells their routes: below a tenth of leaves * hosts * 4 channels."""
    fabric = compute(make(spec), "dor")
    factored = make_resolver(fabric, hosts(fabric))
    walked = make_resolver(
        fabric.replace(routes=replace(tables_of(fabric))), hosts(fabric), messages=0
    )
    table = len(np.unique(fabric.host_switch)) * fabric.hosts * 4 * 2
    assert factored.tabled
    assert not walked.tabled
    assert factored.bytes < table / 10
    source, target = np.random.default_rng(1).integers(0, fabric.hosts, (2, 100_000), np.uint32)
    ends = (source[source != target], target[source != target], 0)
    crossed = [np.sort(made.routes(*ends), axis=1) for made in (factored, walked)]
    pads = [np.minimum(rows, 2 * fabric.cables) for rows in crossed]
    assert_array_equal(*pads)


def test_part_of_the_hosts() -> None:
    """Hosts 0, 1 and 2 share a leaf: one row."""
    fabric = routed(fat_tree(4, 3, 2))
    made = make_resolver(fabric, np.array([2, 0, 1], dtype=np.uint32))
    assert (made.places, made.bytes) == (3, 3 * 2 * 2)


def test_spread_needs_all_addresses() -> None:
    fabric = fat_tree(4, 3, 2)
    lids = np.arange(4, 4 + 4 * fabric.hosts, 4, dtype=np.uint32)
    lmc = np.full(fabric.hosts, 2, dtype=np.uint8)
    wide = fabric.replace(
        host_lid=lids, host_lmc=lmc, switch_lid=np.arange(100, 106, dtype=np.uint32)
    )
    wide = routed(wide)
    assert make_resolver(wide, hosts(wide), spread=True).bytes == 4 * 192
    assert make_resolver(wide, hosts(wide)).bytes == 192


def test_no_routes() -> None:
    with pytest.raises(UsageError, match="fat tree has no routes: give routes=FILE or route="):
        make_resolver(fabric := fat_tree(2, 2, 1), hosts(fabric))


def test_host_without_address() -> None:
    fabric = routed(fat_tree(2, 2, 1))
    lid = fabric.host_lid.copy()
    lid[2] = 0
    with pytest.raises(UsageError, match='host "host 2" has no address'):
        make_resolver(fabric.replace(host_lid=lid), hosts(fabric))
    assert make_resolver(fabric.replace(host_lid=lid), hosts(fabric)[:2]).places == 2


def test_unreachable_host_is_named_with_the_switch_to_blame() -> None:
    # Switch 3 is the top switch of three leaves.
    fabric = without_entry(routed(fat_tree(3, 2, 1)), switch=3, host=4)
    with pytest.raises(UsageError) as caught:
        make_resolver(fabric, hosts(fabric))
    assert str(caught.value) == (
        'host "host 4" (LID 5) cannot be reached from switch "switch 0": switch "switch 3" has no '
        "port for it; see contend fabric check, or leave the host out with without="
    )
    assert make_resolver(fabric, hosts(fabric)[:4]).places == 4


def test_the_route_followed_alone_is_the_resolvers() -> None:
    """For every pair of a torus of nine: injection, what the resolver says, ejection."""
    fabric = routed(torus((3, 3)))
    resolver = make_resolver(fabric, hosts(fabric))
    for source in range(fabric.hosts):
        for target in range(fabric.hosts):
            if source == target:
                continue
            ends = (np.array([end], dtype=np.uint32) for end in (source, target))
            between = resolver.routes(*ends, 0)[0]
            between = between[between < resolver.switch_channels].tolist()
            first = 2 * fabric.cables
            assert find_route(fabric, source, target).channels == (
                first + source,
                *between,
                first + fabric.hosts + target,
            )


def test_a_route_that_does_not_arrive_says_where_it_ends() -> None:
    fabric = without_entry(routed(fat_tree(3, 2, 1)), switch=3, host=4)
    with pytest.raises(UsageError) as caught:
        find_route(fabric, 0, 4)
    assert str(caught.value) == (
        'switch "switch 3" has no port for host "host 4" (LID 5), on the way from switch "switch 0"'
    )
    # The way back is whole.
    assert len(find_route(fabric, 4, 0)) == 4
    lid = fabric.host_lid.copy()
    lid[1] = 0
    with pytest.raises(UsageError, match='host "host 1" has no address'):
        find_route(fabric.replace(host_lid=lid), 0, 1)
