from __future__ import annotations

import numpy as np
import pytest

from contend.base.errors import InputError
from contend.fabric import Fabric
from contend.routes import NO_PORT, ForwardingTables, adopt
from contend.routes.dumps.columns import TableColumns
from contend.routes.tables import by_cable
from sample_fabrics import two_leaves


def dump_of(fabric: Fabric) -> TableColumns:
    """The tables as a dump would name their owners."""
    owner = np.zeros(fabric.routes.addresses, dtype=np.uint64)
    owner[fabric.host_lid] = fabric.host_port_guid
    owner[fabric.switch_lid] = fabric.switch_guid
    return TableColumns(fabric.switch_guid, fabric.routes.ports, owner)


def kinds(fabric: Fabric) -> list[str]:
    return [finding.kind for finding in fabric.findings]


def test_blocks_belong_to_switches_by_guid() -> None:
    fabric = two_leaves()
    dump = dump_of(fabric)
    turned = TableColumns(dump.switch_guid[::-1], dump.ports[::-1], dump.owner_guid)
    adopted = adopt(fabric.replace(routes=None), turned, "x")
    np.testing.assert_array_equal(adopted.routes.ports, dump.ports)
    assert adopted.findings == ()


def test_owners_count_where_the_topology_has_other_lids() -> None:
    fabric = two_leaves()
    stale = fabric.replace(
        host_lid=fabric.host_lid[::-1].copy(), switch_lid=fabric.switch_lid + np.uint32(100)
    )
    adopted = adopt(stale, dump_of(fabric), "x")
    assert adopted.host_lid.tolist() == [1, 2, 3, 4]
    assert adopted.switch_lid.tolist() == [5, 6, 7, 8]


def test_without_owners_the_topologys_lids_count() -> None:
    fabric = two_leaves()
    dump = dump_of(fabric)
    nameless = TableColumns(dump.switch_guid, dump.ports, np.zeros(9, dtype=np.uint64))
    adopted = adopt(fabric, nameless, "x")
    assert adopted.host_lid.tolist() == [1, 2, 3, 4]
    assert adopted.findings == ()


def test_port_guids_that_ibsim_made_are_understood() -> None:
    # The node GUIDs of adapters follow one another, as those of real ones do: what ibsim makes of
    # one adapter's port is the true port GUID of the next.
    fabric = two_leaves()
    node = np.arange(0x1000, 0x1004, dtype=np.uint64)
    real = fabric.replace(host_guid=node, host_port_guid=node)
    as_ibsim = dump_of(fabric.replace(host_guid=node, host_port_guid=node + np.uint64(1)))
    adopted = adopt(real.replace(host_lid=np.zeros(4, dtype=np.uint32)), as_ibsim, "x")
    assert adopted.host_lid.tolist() == [1, 2, 3, 4]


def test_a_missing_table_is_a_finding_and_an_empty_row() -> None:
    fabric = two_leaves()
    dump = dump_of(fabric)
    fewer = TableColumns(dump.switch_guid[:3], dump.ports[:3], dump.owner_guid)
    adopted = adopt(fabric, fewer, "x")
    assert kinds(adopted) == ["no table"]
    assert adopted.findings[0].message == 'no table for 1 switch: "spine 1"'
    assert (adopted.routes.ports[3] == NO_PORT).all()


def test_a_table_of_an_unknown_switch_is_a_finding() -> None:
    fabric = two_leaves()
    dump = dump_of(fabric)
    more = TableColumns(
        np.append(dump.switch_guid, np.uint64(0xABC)),
        np.concatenate([dump.ports, dump.ports[:1]]),
        dump.owner_guid,
        notes=("something",),
    )
    adopted = adopt(fabric, more, "x")
    assert kinds(adopted) == ["reader's note", "unknown switch"]
    assert adopted.findings[1].message.endswith('"0x0000000000000abc"')


def test_tables_of_another_fabric_are_refused() -> None:
    fabric = two_leaves()
    dump = dump_of(fabric)
    other = TableColumns(dump.switch_guid + np.uint64(99), dump.ports, dump.owner_guid)
    with pytest.raises(InputError, match="tables of this fabric's switches, got tables of 4 other"):
        adopt(fabric, other, "x")


def test_a_host_whose_lid_is_now_anothers_has_none() -> None:
    fabric = two_leaves()
    dump = dump_of(fabric)
    owner = dump.owner_guid.copy()
    # Host 3 went away, and host 2 answers to its LID.
    owner[[3, 4]] = [0, fabric.host_port_guid[2]]
    adopted = adopt(fabric, TableColumns(dump.switch_guid, dump.ports, owner), "x")
    assert adopted.host_lid.tolist() == [1, 2, 4, 0]
    assert kinds(adopted) == ["no address"]


def test_repeated_owners_are_several_addresses_of_a_host() -> None:
    fabric = two_leaves()
    owner = np.zeros(16, dtype=np.uint64)
    owner[4:8] = fabric.host_port_guid[0]
    owner[8:10] = fabric.host_port_guid[1]
    owner[[11, 13]] = fabric.host_port_guid[2]
    ports = np.ones((4, 16), dtype=np.uint16)
    adopted = adopt(fabric, TableColumns(fabric.switch_guid, ports, owner), "x")
    assert adopted.host_lid[:2].tolist() == [4, 8]
    assert adopted.host_lmc[:2].tolist() == [2, 1]
    odd = [finding for finding in adopted.findings if finding.kind == "odd addresses"]
    assert len(odd) == 1
    assert '"h2"' in odd[0].message


def test_shape_and_engine() -> None:
    tables = ForwardingTables(np.full((2, 5), NO_PORT), engine="minhop")
    assert (tables.switches, tables.addresses, tables.engine) == (2, 5, "minhop")
    assert tables.ports.dtype == np.uint16
    assert tables.ports[1, 4] == NO_PORT


def test_rows_lie_together_and_cannot_be_written() -> None:
    tables = ForwardingTables(np.asfortranarray(np.arange(6, dtype=np.uint16).reshape(2, 3)))
    assert tables.ports.flags.c_contiguous
    assert tables.ports.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ValueError, match="read-only"):
        tables.ports[0, 0] = 1


def test_a_switch_may_have_as_many_ports_as_there_are_numbers() -> None:
    fabric = two_leaves()
    found = by_cable(fabric, fabric.routes.ports)
    assert found.any()
    large = fabric.replace(switch_ports=np.full_like(fabric.switch_ports, 65_535))
    np.testing.assert_array_equal(by_cable(large, fabric.routes.ports), found)
