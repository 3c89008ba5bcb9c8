"""Which hosts share a server, and what servers are called."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from contend.fabric.fabric import Fabric
from contend.fabric.parts import connected_parts

# What drivers and subnet managers append to a server's name: mlx5_0, HCA-2, hfi1_0, ib0, qib1.
_ADAPTER = re.compile(r"(?:[a-z]+\d*_\d+|HCA-?\d+|ib\d+|qib\d+)", re.IGNORECASE)
# The same where no server's name stands before it: a server may well be called node_7.
_DRIVER = re.compile(
    r"(?:(?:mlx\d|hfi\d|efa|mthca|ipath|irdma|i40iw|bnxt_re|cxgb\d|qedr|rxe|siw|erdma)_?\d+"
    r"|HCA-?\d+|q?ib\d+)",
    re.IGNORECASE,
)


def servers_of(fabric: Fabric) -> NDArray[np.int64]:
    """Number of the server of every host, shape [hosts]; servers count from 0 in order of hosts.

    Hosts share a server when they share the adapter, when their adapters report the same system
    GUID, or when the adapters' descriptions differ only in a last word that names an adapter, such
    as ``luna-0164 mlx5_1``. A description that two adapters carry whole is generic (``localhost
    mlx5_0``) and says nothing.
    """
    same: dict[tuple[str, object], list[int]] = {}
    for host, (guid, system) in enumerate(
        zip(fabric.host_guid.tolist(), fabric.host_system_guid.tolist(), strict=True)
    ):
        for key in (("adapter", guid), ("system", system)):
            if key[1]:
                same.setdefault(key, []).append(host)
    for name, members in _by_name(fabric).items():
        same[("name", name)] = members
    groups = [members for members in same.values() if len(members) > 1]
    first = np.repeat([members[0] for members in groups], [len(members) for members in groups])
    other = np.array([host for members in groups for host in members], dtype=np.int64)
    return connected_parts(fabric.hosts, first.astype(np.int64), other)


# Where a server's name may end in a description: node1 HCA-1, node1/P2, node1:mlx5_0.
_END_OF_NAME = re.compile(r"[\s/:]+")
_MOST_WORDS = 16


def server_names(fabric: Fabric) -> list[str]:
    """For every host a name of its server, the same for all its hosts and no other server's.

    It is the shortest beginning of the hosts' descriptions, by whole words, that no other server's
    have, unless it names no more than an adapter: ``node07`` of ``node07 HCA-1``, ``host 2`` of
    ``host 2``. Where there is none, as in ``mlx5_0`` or ``localhost mlx5_0``, it is the GUID of the
    server's first adapter; a GUID that is not known leaves the description.
    """
    server = servers_of(fabric).tolist()
    owners: dict[str, set[int]] = {}
    offers: dict[int, Counter[str]] = {}
    first: dict[int, int] = {}
    for host, (owner, description) in enumerate(zip(server, fabric.host_name, strict=True)):
        first.setdefault(owner, host)
        for beginning in _beginnings(description.strip()):
            owners.setdefault(beginning, set()).add(owner)
            offers.setdefault(owner, Counter())[beginning] += 1
    names = {}
    for owner, host in first.items():
        unique = [
            (-hosts, len(name), name)
            for name, hosts in offers.get(owner, Counter()).items()
            if len(owners[name]) == 1
        ]
        guid = int(fabric.host_guid[host])
        other = f"0x{guid:016x}" if guid else fabric.host_name[host].strip()
        names[owner] = min(unique)[2] if unique else other
    return [names[owner] for owner in server]


def _beginnings(description: str) -> list[str]:
    """What a description begins with, by whole words, but for what only names an adapter."""
    # Names of servers are short; beginnings of a description without bound grow with its square.
    inner = islice(_END_OF_NAME.finditer(description), _MOST_WORDS)
    ends = [match.start() for match in inner] + [len(description)]
    beginnings = [description[:end] for end in ends]
    return [
        beginning
        for beginning in beginnings
        if not all(_DRIVER.fullmatch(word) for word in _END_OF_NAME.split(beginning) if word)
    ]


def _by_name(fabric: Fabric) -> dict[str, list[int]]:
    """Hosts by the server's name that their descriptions begin with, where one does."""
    adapters: dict[str, set[int]] = {}
    members: dict[str, list[int]] = {}
    for host, name in enumerate(fabric.host_name):
        words = name.split()
        if len(words) > 1 and _ADAPTER.fullmatch(words[-1]):
            adapters.setdefault(" ".join(words), set()).add(int(fabric.host_guid[host]))
            members.setdefault(" ".join(words[:-1]), []).append(host)
    shared = Counter(
        whole.rpartition(" ")[0] for whole, guids in adapters.items() if len(guids) > 1
    )
    return {server: hosts for server, hosts in members.items() if server not in shared}
