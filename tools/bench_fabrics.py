"""Writes the fabrics that the core's benchmarks run on: arrays one after the other, little-endian.

Layout: uint64 hosts, switches, cables, addresses; uint32 host_switch, uint16 host_port,
uint16 switch_ports, uint32 cable_from, uint16 cable_from_port, uint32 cable_to,
uint16 cable_to_port, uint32 host_lid, uint16 ports [switches, addresses].
"""

import sys
from pathlib import Path

import numpy as np

import contend

FABRICS = {
    "chic": ("chic", "minhop"),
    "thunderbird": ("thunderbird", "minhop"),
    "ranger": ("ranger", "minhop"),
    "fattree3-27648": ("fattree3:48", "minhop"),
    "fattree3-65536": ("fattree3:64", "dmodk"),
}


def write(fabric: contend.Fabric, path: Path) -> None:
    """Writes one fabric with its routes."""
    tables = fabric.tables
    assert tables is not None
    counts = (fabric.hosts, fabric.switches, fabric.cables, tables.addresses)
    columns = ("host_switch", "host_port", "switch_ports", "cable_from", "cable_from_port")
    columns += ("cable_to", "cable_to_port", "host_lid")
    with path.open("wb") as file:
        file.write(np.array(counts, dtype=np.uint64).tobytes())
        for column in columns:
            file.write(getattr(fabric, column).tobytes())
        tables.ports.tofile(file)


def main() -> None:
    """Writes every fabric that the folder does not hold yet."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (spec, engine) in FABRICS.items():
        path = folder / f"{name}.bin"
        if not path.exists():
            write(contend.load(spec, route=engine), path)


if __name__ == "__main__":
    main()
