"""Which hosts share a server, on which rail each is, and what servers are called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend.base.names import without_domains
from contend.fabric.fabric import Fabric, NumberedNames, connected_parts

if TYPE_CHECKING:
    from contend.fabric.told.told_rails import ToldRails

# An adapter's name by its grammar: a driver with a number, or a bond's, a port's or any other kind
# between, or what it serves, then its function, virtual function or port (mlx5_0, mlx5_ib0,
# mlx5_bond_0, mlx5_an0, hfi1_0, gpu0_eth, mlx5_3/P2).
_DRIVERS = (
    r"(?:mlx\d+|hfi\d|efa|mthca|ipath|irdma|i40iw|bnxt_re|cxgb\d|qedr|rxe|siw|erdma|ocrdma|cxi|hsn"
    r"|(?:vmw_)?pvrdma)"
)
_FURTHER = r"(?:opa|hns\d?(?:_roce)?|usnic|mana|ionic|xscale|qib)"
_KIND = "(?:bond|ib|opa|roce|eth|en|rdma|iw|vf|pf|port)"
_PORT = r"(?:[/:._-]?(?:p|port)[-_]?\d{1,3}|[/:]\d{1,3})?"
_VENDOR = (
    "(?:(?:amazon|amd|aws|bcm|broadcom|chelsio|cornelis|hp|hpe|huawei|intel|marvell|mellanox|mlnx"
    "|nvidia|pensando|qlogic)[-_])?"
)
_DRIVER = (
    rf"{_VENDOR}(?:{_DRIVERS}(?:_?{_KIND}|(?:_[a-z]{{1,8}}){{1,2}})?_?\d+|{_FURTHER}(?:_{_KIND})?_\d+"
    rf"|gpu[-_]?\d+_{_KIND}\d*|HCA[-_]?\d+|q?ib\d+|opa\d+|nes\d+)"
    rf"(?:_?(?:f|v|vf|pf)\d+)*{_PORT}"
)
# Those that last over restarts, which rdma-core gives since 2019: by place on the bus or by GUID
# (ibP1p2s0, rocep11s0f1, ibx0002c903000ab1cd), by slot or by number on the board (ibs22f0, ibo3).
_KINDS = "(?:ib|opa|roce|iw|rdma|usnic|en)"
_FUNCTIONS = rf"(?:f\d+)?(?:v\d+)?(?:d\d+)?(?:np\d+)?{_PORT}"
_LASTING = rf"{_KINDS}(?:(?:P\d+)?p\d+s\d+{_FUNCTIONS}|x[0-9a-f]{{12,16}})"
_BY_SLOT = rf"{_KINDS}(?:(?:P\d+)?s\d+|o\d+|[pv]f\d+){_FUNCTIONS}"
# Behind a server's name numbered words of any driver, and what people call adapters by.
_CALLED = r"(?:nic|rail|roce|bond|eth)[-_]?\d+"
_ANY = (
    rf"(?:[a-z]+\d*(?:_{_KIND})?_\d+|[a-z]+\d*_{_KIND}\d+|(?:[a-z]{{1,12}}\d?[-_])?{_CALLED}|rail)"
)
# What is appended to a server's name.
_ADAPTER = re.compile(rf"{_ANY}{_PORT}|{_DRIVER}|{_LASTING}|{_BY_SLOT}", re.IGNORECASE)
_KNOWN_ADAPTER = re.compile(rf"{_DRIVER}|{_LASTING}|{_BY_SLOT}", re.IGNORECASE)
_PORT_ALONE = re.compile(r"(?:p(?:ort)?[-_]?)?\d{1,3}", re.IGNORECASE)
# The same where no server's name stands before it: a server may well be called node_7 or ibs22.
_ONLY_ADAPTER = re.compile(rf"{_DRIVER}|{_LASTING}", re.IGNORECASE)
# The same behind "-" or "_", where a server's name may go on: the first are no part of any (mlx5_0,
# ibp59s0), the others may be (storage-ib1), so that other names must prove them.
_JOINED = re.compile(
    rf"{_VENDOR}(?:bnxt_re|HCA[-_]|(?:{_DRIVERS}|{_FURTHER})\w*_)\w*\d{_PORT}|{_LASTING}",
    re.IGNORECASE,
)
_MAYBE_JOINED = re.compile(rf"{_DRIVER}|{_LASTING}|{_BY_SLOT}|{_CALLED}{_PORT}", re.IGNORECASE)
# What every machine calls itself, and what stands where none has a name: no launcher finds it.
_NOBODY = re.compile(
    r"(?:ip6-)?(?:localhost|loopback)\d?(?:[.-].*)?|127(?:\.\d{1,3}){1,3}|::1|0\.0\.0\.0"
    r"|[(<\[]?(?:none|null|unknown|unnamed|n/a)[)>\]]?",
    re.IGNORECASE,
)
# What an adapter's firmware says until a host sets its description: MT4123 ConnectX6 ...
_FACTORY = re.compile(
    r"(?:MT\d{4,6}|Mellanox|NVIDIA)\s+(?:MT\d{4,6}\s+)?(?:ConnectX|Connect-IB|InfiniHost|BlueField)"
    r".*",
    re.IGNORECASE | re.DOTALL,
)


def servers_of(fabric: Fabric) -> NDArray[np.int64]:
    """Number of the server of every host, shape [hosts]; servers count from 0 in order of hosts.

    Hosts share a server when they share the adapter, when their adapters report the same system
    GUID, or when the adapters' descriptions differ only in a last word that names an adapter, such
    as ``luna-0164 mlx5_1`` or ``node01 ibp11s0f0``, in the server's domain, or in capitals. A
    description that two adapters carry whole is generic (``localhost mlx5_0``) and says nothing.
    Where the descriptions under one GUID name several servers they are right: an adapter may serve
    several hosts. Where a file tells servers it is right, and hosts that it does not name stay with
    those of theirs that it names, if all of these are of one server.
    """
    same: dict[tuple[str, object], list[int]] = {}
    by_name = _by_name(fabric)
    named = {host: name for name, members in by_name.items() for host in members}
    columns = (("adapter", fabric.host_guid), ("system", fabric.host_system_guid))
    for kind, guids in columns:
        hosts = np.flatnonzero(repeated(guids))
        for host, guid in zip(hosts.tolist(), guids[hosts].tolist(), strict=True):
            same.setdefault((kind, guid), []).append(host)
    for name, members in by_name.items():
        same[("name", name)] = members
    groups = [
        members
        for (kind, _), members in same.items()
        if len(members) > 1 and (kind == "name" or _of_one_name(members, named))
    ]
    first = np.repeat([members[0] for members in groups], [len(members) for members in groups])
    other = np.array([host for members in groups for host in members], dtype=np.int64)
    found = connected_parts(fabric.hosts, first.astype(np.int64), other)
    return found if fabric.told is None else _as_told(found, fabric.told)


def repeated(numbers: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which of some numbers, other than 0, occur more than once."""
    _, which, times = np.unique(numbers, return_inverse=True, return_counts=True)
    several: NDArray[np.bool_] = (times > 1)[which.reshape(-1)] & (numbers != 0)
    return several


def are_numbered(fabric: Fabric, server: NDArray[np.int64]) -> bool:
    """Whether the hosts have generated names that name neither servers nor adapters of several."""
    alone = fabric.told is None and fabric.hosts > 1 and len(server) == int(server.max()) + 1
    return alone and isinstance(fabric.host_name, NumberedNames)


def _as_told(found: NDArray[np.int64], told: ToldRails) -> NDArray[np.int64]:
    """Numbers of servers by what is told of some hosts, and by what names say of the rest."""
    known = told.server >= 0
    lowest = np.full(len(found), len(told.names))
    highest = np.full(len(found), -1)
    np.minimum.at(lowest, found[known], told.server[known])
    np.maximum.at(highest, found[known], told.server[known])
    whole = np.where(lowest == highest, lowest, -1)[found]
    label = np.where(known, told.server, np.where(whole >= 0, whole, len(told.names) + found))
    _, first, number = np.unique(label, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number.reshape(-1)].astype(np.int64)


def _of_one_name(hosts: list[int], named: dict[int, str]) -> bool:
    return len({named[host] for host in hosts if host in named}) < 2


@lru_cache(1 << 16)
def split_adapter(description: str) -> tuple[str, str]:
    """What stands before the adapter's name in a description, and that name; "" for none."""
    words = description.split()
    of_adapter = 1 + (len(words) > 2 and _PORT_ALONE.fullmatch(words[-1]) is not None)
    if words and _ADAPTER.fullmatch(words[-of_adapter]):
        return " ".join(words[:-of_adapter]).rstrip(_AROUND), " ".join(words[-of_adapter:])
    # What looks like an adapter of any kind may be a server there: rack1/node_7.
    for mark in _MARK.finditer(description):
        adapter = description[mark.end() :].strip()
        if len(adapter) <= _LONGEST_ADAPTER and _KNOWN_ADAPTER.fullmatch(adapter):
            return description[: mark.start()].strip(), adapter
    # Its bus, its speed and the like may stand behind, and the server, too: mlx5_0@node1.
    for word in islice(_WORD.finditer(description), _MOST_WORDS):
        if len(word[0]) <= _LONGEST_ADAPTER and _ONLY_ADAPTER.fullmatch(word[0]):
            behind = _WORD.search(description, word.end())
            before = description[: word.start()].strip(_AROUND)
            return before or (behind[0] if behind else ""), word[0]
    server, adapter = _behind_a_mark(description.strip())
    return (server, adapter) if _JOINED.fullmatch(adapter) else ("", "")


@lru_cache(1 << 16)
def _behind_a_mark(description: str) -> tuple[str, str]:
    """A server's name and that of its adapter, as in ``node1-ib0``; "" where none can be one."""
    if len(description.split()) == 1 and not _ONLY_ADAPTER.fullmatch(description):
        for mark in _ANY_MARK.finditer(description, 1):
            adapter = description[mark.end() :]
            if len(adapter) <= _LONGEST_ADAPTER and _MAYBE_JOINED.fullmatch(adapter):
                return description[: mark.start()], adapter
    return "", ""


def split_adapters(descriptions: Sequence[str]) -> list[tuple[str, str]]:
    """As `split_adapter`, of all hosts; names behind a dash that a server may have, where proven.

    Servers of a kind have adapters of the same names: two of ``node1`` and ``node2`` are ``ib0``
    and ``ib1``. Servers that are called so, as ``storage-ib1`` to ``storage-ib9``, are more than
    the beginnings that they share, and count from 1.
    """
    split = [split_adapter(description) for description in descriptions]
    if isinstance(descriptions, NumberedNames):
        return split
    maybe = {
        host: _behind_a_mark(description.strip())
        for host, (description, (server, _)) in enumerate(zip(descriptions, split, strict=True))
        if not server
    }
    words: dict[str, set[str]] = {}
    for server, adapter in maybe.values():
        words.setdefault(server.casefold(), set()).add(adapter.casefold())
    sets = Counter(frozenset(own) for server, own in words.items() if server and len(own) > 1)
    proven = set().union(*(own for own, servers in sets.items() if _are_adapters(own, servers)))
    for host, (server, adapter) in maybe.items():
        if adapter.casefold() in proven:
            split[host] = server, adapter
    return split


def _are_adapters(words: frozenset[str], servers: int) -> bool:
    """Whether words that so many beginnings of names have in common name adapters."""
    counted = any(re.search(r"(?<!\d)0+(?!\d)", word) for word in words)
    return servers > 1 and (counted or servers >= len(words))


def is_nobody(name: str) -> bool:
    """Whether a name is none of one machine: ``localhost``, ``(none)``."""
    return len(name) < _LONGEST_ADAPTER and _NOBODY.fullmatch(name) is not None


def adapter_words(fabric: Fabric, names: Sequence[str]) -> list[str]:
    """What every host's description calls its adapter, such as ``mlx5_0`` or ``rail 2``; or "".

    Args:
        fabric: whose hosts.
        names: of their servers, as `server_names` has them.
    """
    words = []
    split = split_adapters(fabric.host_name)
    for description, name, (_, adapter) in zip(fabric.host_name, names, split, strict=True):
        text = description.strip()
        behind = text.removeprefix(name).strip(_MARKS) if text.startswith(name) else text
        words.append(adapter or behind)
    return words


_MARKS = " \t:/"
# What people put around an adapter's name: node1 (mlx5_0), node1|mlx5_0.
_AROUND = " \t|;,@=()[]<>'\""
_WORD = re.compile(rf"[^{re.escape(_AROUND)}]+")
_MARK, _ANY_MARK = re.compile("[:/]"), re.compile("[:/_-]")
_LONGEST_ADAPTER = 64
# Where a server's name may end in a description: node1 HCA-1, node1/P2, node1:mlx5_0.
_END_OF_NAME = re.compile(r"[\s/:]+")
_MOST_WORDS = 16
_GUID = re.compile(r"0x[0-9a-f]{16}")


def server_names(fabric: Fabric) -> list[str]:
    """For every host a name of its server, the same for all its hosts and no other server's.

    It is the shortest beginning of the hosts' descriptions, by whole words, that no other server's
    have, unless it names no more than an adapter: ``node07`` of ``node07 HCA-1``, ``host 2`` of
    ``host 2``. Where there is none, as in ``mlx5_0`` or ``localhost mlx5_0``, it is the GUID of the
    server's first adapter; a GUID that is not known leaves the description. A server that a file
    tells has its name there.
    """
    numbers = servers_of(fabric)
    if are_numbered(fabric, numbers):
        return list(fabric.host_name)
    server = numbers.tolist()
    # Launchers take Node1 and node1 for one machine.
    owners: dict[str, set[int]] = {}
    offers: dict[int, Counter[str]] = {}
    first: dict[int, int] = {}
    split = split_adapters(fabric.host_name)
    for host, (owner, description) in enumerate(zip(server, fabric.host_name, strict=True)):
        first.setdefault(owner, host)
        for beginning in _beginnings(split[host][0] or description.strip()):
            owners.setdefault(beginning.casefold(), set()).add(owner)
            offers.setdefault(owner, Counter())[beginning] += 1
    names = _told_names(fabric, server)
    taken = set(names.values())
    for owner, host in first.items():
        if owner in names:
            continue
        unique = [
            (-hosts, len(name), name)
            for name, hosts in offers.get(owner, Counter()).items()
            if len(owners[name.casefold()]) == 1 and name not in taken
        ]
        guid = int(fabric.host_guid[host])
        other = f"0x{guid:016x}" if guid else fabric.host_name[host].strip()
        names[owner] = min(unique)[2] if unique else other
    return [names[owner] for owner in server]


def _told_names(fabric: Fabric, server: Sequence[int]) -> dict[int, str]:
    """Names that a file tells, by the numbers of servers."""
    if fabric.told is None:
        return {}
    return {
        owner: fabric.told.names[told]
        for owner, told in zip(server, fabric.told.server.tolist(), strict=True)
        if told >= 0 and fabric.told.names[told]
    }


def unnamed_hosts(fabric: Fabric) -> list[int]:
    """Hosts with descriptions that name no server, and that nothing else tells the server of."""
    if isinstance(fabric.host_name, NumberedNames):
        return []
    # A description of its own that is more than an adapter's name names the server; the rest costs
    # more to look at.
    names = {name.strip().casefold() for name in fabric.host_name}
    if len(names) == fabric.hosts and all(map(_beginnings, fabric.host_name)):
        return []
    return [
        host
        for host, name in enumerate(server_names(fabric))
        if _GUID.fullmatch(name) and fabric.host_name[host].strip() != name
    ]


def _beginnings(description: str) -> list[str]:
    """What a description begins with, by whole words, but for what only names an adapter."""
    # Behind a server's name its adapter's says which adapter, and never which server.
    description = split_adapter(description)[0] or description
    first = _END_OF_NAME.split(description, maxsplit=1)[0]
    if _FACTORY.fullmatch(description) or is_nobody(first) or is_nobody(description):
        return []
    # Names of servers are short; beginnings of a description without bound grow with its square.
    inner = islice(_END_OF_NAME.finditer(description), _MOST_WORDS)
    ends = [match.start() for match in inner] + [len(description)]
    beginnings = [description[:end] for end in ends]
    return [
        beginning
        for beginning in beginnings
        if not all(_ONLY_ADAPTER.fullmatch(word) for word in _END_OF_NAME.split(beginning) if word)
    ]


def _by_name(fabric: Fabric) -> dict[str, list[int]]:
    """Hosts by the server's name that their descriptions begin with, where one does."""
    if isinstance(fabric.host_name, NumberedNames):
        # Names of adapters begin with letters.
        return {}
    named = [
        (host, server, adapter)
        for host, (server, adapter) in enumerate(split_adapters(fabric.host_name))
        if server and adapter and not is_nobody(server)
    ]
    # One machine may be called node1 and Node1.cluster, unless two adapters deny it.
    folded = {server: server.casefold() for _, server, _ in named}
    short = without_domains(set(folded.values()))
    found, rest = _undisputed(fabric, named, {name: short[folded[name]] for name in folded})
    return found | _undisputed(fabric, rest, {name: f" {name}" for name in folded})[0]


_Named = tuple[int, str, str]
"""A host, and what its description calls the server and the adapter."""


def _undisputed(
    fabric: Fabric, named: list[_Named], called: dict[str, str]
) -> tuple[dict[str, list[int]], list[_Named]]:
    """Hosts by what is `called` so by at most one adapter of each name; and those by other names.

    Ports of one adapter have its GUID, or where that is not told, as in lines of iblinkinfo, GUIDs
    that count on with the ports.
    """
    own, ports = fabric.host_guid.tolist(), fabric.host_port_guid.tolist()
    numbers = fabric.host_adapter_port.tolist()
    adapters: dict[tuple[str, str], tuple[set[int], set[int]]] = {}
    members: dict[str, list[int]] = {}
    for host, server, adapter in named:
        name = called[server]
        guids, counted = adapters.setdefault((name, adapter.casefold()), (set(), set()))
        guids.add(own[host])
        counted.add(ports[host] - numbers[host] if ports[host] else own[host])
        members.setdefault(name, []).append(host)
    shared = {name for (name, _), found in adapters.items() if min(map(len, found)) > 1}
    rest = [entry for entry in named if called[entry[1]] in shared]
    return {name: hosts for name, hosts in members.items() if name not in shared}, rest
