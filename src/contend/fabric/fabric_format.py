"""The layout of contend's .fabric files, shared by reader and writer; docs/formats.md tells it."""

from __future__ import annotations

import struct
from dataclasses import dataclass

MAGIC = b"contend fabric "
VERSION = 1

# Counts of a file's header, in this order, each an unsigned number of 64 bits.
COUNTS = ("hosts", "switches", "cables", "rates", "findings", "addresses")
HEADER = struct.Struct(f"<{len(COUNTS)}Q")

# What a file may claim; enough for any fabric that fits a machine, and checked before memory is
# asked for.
LIMITS = {
    "hosts": 1 << 22,
    "switches": 1 << 20,
    "cables": 1 << 24,
    "rates": 1 << 12,
    "findings": 1 << 20,
    "addresses": 1 << 24,
}
TABLE_ENTRIES = 1 << 30
SWITCH_PORTS = 1 << 28
TEXT_BYTES = 1 << 28


@dataclass(frozen=True)
class Column:
    """A column of numbers: attribute of Fabric, little-endian type, count that is its length."""

    name: str
    type: str
    count: str


@dataclass(frozen=True)
class Text:
    """A column of texts: its name and the count that is its length ("" for a single text)."""

    name: str
    count: str


# A new version gets a layout of its own; those of older versions stay as they are.
LAYOUTS: dict[int, tuple[tuple[Column, ...], tuple[Text, ...]]] = {
    1: (
        (
            Column("host_guid", "<u8", "hosts"),
            Column("host_port_guid", "<u8", "hosts"),
            Column("host_adapter_port", "<u2", "hosts"),
            Column("host_system_guid", "<u8", "hosts"),
            Column("host_lid", "<u4", "hosts"),
            Column("host_lmc", "|u1", "hosts"),
            Column("host_switch", "<u4", "hosts"),
            Column("host_port", "<u2", "hosts"),
            Column("host_rate", "<u2", "hosts"),
            Column("switch_guid", "<u8", "switches"),
            Column("switch_system_guid", "<u8", "switches"),
            Column("switch_ports", "<u2", "switches"),
            Column("switch_lid", "<u4", "switches"),
            Column("cable_from", "<u4", "cables"),
            Column("cable_from_port", "<u2", "cables"),
            Column("cable_to", "<u4", "cables"),
            Column("cable_to_port", "<u2", "cables"),
            Column("cable_rate", "<u2", "cables"),
            Column("finding_wrong", "|u1", "findings"),
        ),
        (
            Text("name", ""),
            Text("engine", ""),
            Text("host_name", "hosts"),
            Text("switch_name", "switches"),
            Text("rates", "rates"),
            Text("finding_kind", "findings"),
            Text("finding_message", "findings"),
        ),
    )
}
