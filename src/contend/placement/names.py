"""Whom the names mean that people and schedulers write."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cached_property

import numpy as np

from contend.errors import InputError
from contend.fabric import Fabric, server_names
from contend.placement.order import by_name

# What may follow a server's name within a host's: node1.cluster HCA-1, node1/P2, node1:mlx5_0.
_SEPARATORS = " .:/"


class HostNames:
    """Looks names up; the first of these rules that matches anything decides.

    1. ``fabric hosts`` calls a server so, which stands for all of its hosts (its rails).
    2. The name is a host's whole name, in quotes or not, the label that tells it from hosts that
       are called alike, or its port's GUID.
    3. It is the first word of hosts' names.
    4. Hosts' names start with it, followed by a blank, ``.``, ``:`` or ``/``.
    5. Its part before the first dot matches by the rules before: ``node1.cluster`` is ``node1``.

    Hosts come in natural order. Two ports of one adapter may share a name, hosts of different
    adapters may not: such a name is ambiguous.
    """

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._order: list[int] = by_name(fabric).tolist()
        whole: dict[str, list[int]] = {}
        prefixes: dict[str, list[int]] = {}
        words: dict[str, list[int]] = {}
        for host in self._order:
            name = fabric.host_name[host].strip()
            whole.setdefault(name, []).append(host)
            words.setdefault(_first_word(name), []).append(host)
            for end, character in enumerate(name):
                if character in _SEPARATORS:
                    prefixes.setdefault(name[:end], []).append(host)
            if (label := fabric.host_label[host].strip()) != name:
                whole.setdefault(label, []).append(host)
        self._index: dict[str, list[int]] = {**prefixes, **words, **whole}

    def __contains__(self, name: str) -> bool:
        return self._lookup(name) is not None or name.strip() in self._servers

    @cached_property
    def _servers(self) -> dict[str, list[int]]:
        names = server_names(self._fabric)
        servers: dict[str, list[int]] = {}
        for host in self._order:
            servers.setdefault(names[host], []).append(host)
        return servers

    def find(self, name: str, source: str, line: int = 0) -> list[int]:
        """The hosts that a name means.

        Raises:
            InputError: it means no host or is ambiguous; the error names source and line.
        """
        if whole_server := self._servers.get(name.strip()):
            return whole_server
        hosts = self._lookup(name)
        if hosts is None:
            raise InputError(source, line, f"a host of {self._fabric.name}", f'"{name}"')
        adapter_of: dict[str, int] = {}
        for host in hosts:
            adapter = int(self._fabric.host_guid[host])
            full = self._fabric.host_name[host]
            if adapter_of.setdefault(full, adapter) != adapter:
                raise InputError(
                    source,
                    line,
                    f"the name of one host of {self._fabric.name}",
                    f'"{name}", which several adapters have ("{full}")',
                )
        return hosts

    def match(self, pattern: str, source: str) -> list[int]:
        """The hosts whose whole name or first word fits a glob (``*``, ``?``, ``[...]``).

        Raises:
            InputError: no host fits.
        """
        hosts = [
            host
            for host in self._order
            if fnmatchcase(name := self._fabric.host_name[host].strip(), pattern)
            or fnmatchcase(_first_word(name), pattern)
        ]
        if not hosts:
            raise InputError(source, 0, f"a glob that fits hosts of {self._fabric.name}", pattern)
        return hosts

    def first(self, count: int) -> list[int]:
        """The first hosts in natural order."""
        return self._order[:count]

    def _lookup(self, name: str) -> list[int] | None:
        name = name.strip()
        if quoted := re.fullmatch(r'(?:host )?"(.+)"', name, re.DOTALL):
            name = quoted[1].strip()
        if re.fullmatch("0x[0-9a-f]{1,16}", name, re.IGNORECASE):
            return np.flatnonzero(self._fabric.host_port_guid == int(name, 16)).tolist() or None
        if not name:
            return None
        return self._index.get(name) or self._index.get(name.split(".")[0])


def _first_word(name: str) -> str:
    return name.split(maxsplit=1)[0] if name.strip() else ""
