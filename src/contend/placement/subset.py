"""A choice among a fabric's hosts."""

from __future__ import annotations

from pathlib import Path

from contend.errors import UsageError
from contend.fabric import Fabric
from contend.placement.host_file import read_host_file
from contend.placement.names import HostNames
from contend.placement.ranges import expand, split_list

_SOURCE = "hosts"


def choose(spec: str, fabric: Fabric, names: HostNames) -> frozenset[int]:
    """The hosts that a choice means.

    Args:
        spec: a number N (the first N by name), a glob (``luna-01*``), a comma-separated list of
            names, ranges and globs, or a host file (its path, or ``file:`` and its path).
        fabric: whose hosts.
        names: its names.

    Raises:
        UsageError: for a number that the fabric does not have.
        InputError: for names that are unknown or ambiguous.
    """
    if spec.isdecimal():
        if len(spec) > 9 or not 1 <= int(spec) <= fabric.hosts:
            raise UsageError(f"hosts: expected 1 to {fabric.hosts} of {fabric.name}, got {spec}")
        return frozenset(names.first(int(spec)))
    if spec.startswith("file:"):
        return _of_file(spec.removeprefix("file:"), names)
    if spec not in names and Path(spec).is_file():
        return _of_file(spec, names)
    return frozenset(host for item in split_list(spec) for host in _of_item(item, names))


def _of_file(path: str, names: HostNames) -> frozenset[int]:
    return frozenset(host for line in read_host_file(path, names) for host in line.hosts)


def _of_item(item: str, names: HostNames) -> list[int]:
    if item in names:
        return names.find(item, _SOURCE)
    if "*" in item or "?" in item:
        return names.match(item, _SOURCE)
    return [host for name in expand(item, _SOURCE) for host in names.find(name, _SOURCE)]
