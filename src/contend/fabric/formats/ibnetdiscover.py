"""What ibnetdiscover and iblinkinfo print; the writer of ibnetdiscover's."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from contend import _core
from contend.base.errors import UsageError
from contend.fabric.fabric import Fabric
from contend.fabric.streams.source import naming
from contend.fabric.subnet import LARGEST_LID, Subnet

_SHAPES = re.compile(
    rb"^[ \t]*(?:"
    rb"# Topology file: generated on |"
    rb'(?:Switch|Ca|Hca|Rt)[ \t]*\d{1,3}[ \t]*"[SHR]-[0-9A-Fa-f]{1,16}"|'
    rb"(?:SW|CA|RT)[ \t]{1,9}\d{1,5}[ \t]{1,9}\d{1,3} 0x[0-9A-Fa-f]{16} )",
    re.MULTILINE,
)
_LINK_LINES = re.compile(rb"^[ \t]*(?:0x|\d)[^\n]{0,600}\] ==\([^\n]{0,200}==>", re.MULTILINE)


class _Tool:
    """What a tool of infiniband-diags prints, which the core reads."""

    def __init__(self, shapes: re.Pattern[bytes], parser: type[_Parser]) -> None:
        self._shapes = shapes
        self._parser = parser

    def recognises(self, head: bytes) -> bool:
        """Whether a file that begins with `head` is this tool's."""
        return self._shapes.search(head) is not None

    def read(self, chunks: Iterable[bytes], source: str) -> Subnet:
        """Reads what the tool printed.

        Args:
            chunks: the file's bytes, cut anywhere.
            source: the file's name, for errors.

        Raises:
            InputError: a line begins as one of the tool's and does not go on as one, a number is
                out of its range, or there is no node or port at all.
        """
        parser = self._parser()
        with naming(source):
            for chunk in chunks:
                parser.feed(chunk)
            return Subnet(**parser.finish())


_Parser = _core.IbnetdiscoverParser | _core.IblinkinfoParser

IBNETDISCOVER = _Tool(_SHAPES, _core.IbnetdiscoverParser)
"""Plain, full (-f), grouped (-g), or a port listing (-p).

Lines that are not ibnetdiscover's, such as error messages that were redirected into the same file,
are passed over and counted in the notes. A port listing names no adapters, so there every adapter
port makes an adapter, with the port's GUID.
"""
IBLINKINFO = _Tool(_LINK_LINES, _core.IblinkinfoParser)
"""Node by node, or with -l one line for each port; whole or only the lines of ports.

The GUIDs of adapters are those of their ports. Without ``-l`` a LID tells who is at the other end;
with it no line says what is a switch, which is a GUID whose ports share a LID. Lines with and
without ``-l`` are not mixed.
"""


_UNKNOWN_RATE = "???"


def write(fabric: Fabric) -> Iterator[str]:
    """The records of all switches, then those of all adapters.

    Control characters in names become spaces and double quotes single ones, as the format has no
    way to write them. Hosts of one adapter, by node GUID, make up one record.

    Raises:
        UsageError: more addresses than there are LIDs, or nodes that GUIDs do not tell apart.
    """
    check_lids(fabric, "an ibnetdiscover file")
    _check_guids(fabric)
    yield f"#\n# Topology file: {in_quotes(fabric.name)}, written by contend\n#\n"
    writer = _Writer(fabric)
    for switch in range(fabric.switches):
        yield writer.switch(switch)
    for hosts in writer.adapters.values():
        yield writer.adapter(hosts)


def _check_guids(fabric: Fabric) -> None:
    """Refuses nodes that would be read back as one; an adapter may have several ports."""
    ports = fabric.host_adapter_port.tolist()
    for kind, labels, guids, told in (
        ("switches", fabric.switch_label, fabric.switch_guid.tolist(), [0] * fabric.switches),
        ("hosts", fabric.host_label, fabric.host_guid.tolist(), ports),
    ):
        first: dict[tuple[int, int], int] = {}
        for node, key in enumerate(zip(guids, told, strict=True)):
            other = first.setdefault(key, node)
            if other != node:
                raise UsageError(
                    f"an ibnetdiscover file tells nodes by their GUIDs, but {kind} "
                    f'"{labels[other]}" and "{labels[node]}" both have 0x{key[0]:016x}: write '
                    "another kind of file"
                )


class _Writer:
    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._switch_names = [in_quotes(name) for name in fabric.switch_name]
        self._host_names = [in_quotes(name) for name in fabric.host_name]
        self._rates = [rate or _UNKNOWN_RATE for rate in fabric.rates]
        self.adapters: dict[int, list[int]] = defaultdict(list)
        for host, guid in enumerate(fabric.host_guid.tolist()):
            self.adapters[guid].append(host)
        self._lines: list[list[tuple[int, str]]] = [[] for _ in range(fabric.switches)]
        self._add_hosts()
        self._add_cables()

    def _add_hosts(self) -> None:
        fabric = self._fabric
        rows = zip(
            fabric.host_switch.tolist(),
            fabric.host_port.tolist(),
            fabric.host_guid.tolist(),
            fabric.host_adapter_port.tolist(),
            fabric.host_port_guid.tolist(),
            fabric.host_lid.tolist(),
            fabric.host_rate.tolist(),
            self._host_names,
            strict=True,
        )
        for switch, port, guid, adapter_port, port_guid, lid, rate, name in rows:
            line = (
                f'[{port}]\t"H-{guid:016x}"[{adapter_port}]({port_guid:x}) \t\t'
                f'# "{name}" lid {lid} {self._rates[rate]}\n'
            )
            self._lines[switch].append((port, line))

    def _add_cables(self) -> None:
        fabric = self._fabric
        columns = (
            (fabric.cable_from, fabric.cable_from_port, fabric.cable_to, fabric.cable_to_port),
            (fabric.cable_to, fabric.cable_to_port, fabric.cable_from, fabric.cable_from_port),
        )
        for direction in columns:
            rows = zip(
                *(column.tolist() for column in (*direction, fabric.cable_rate)), strict=True
            )
            for switch, port, peer, peer_port, rate in rows:
                line = (
                    f'[{port}]\t"S-{int(fabric.switch_guid[peer]):016x}"[{peer_port}]\t\t'
                    f'# "{self._switch_names[peer]}" lid {fabric.switch_lid[peer]} '
                    f"{self._rates[rate]}\n"
                )
                self._lines[switch].append((port, line))

    def switch(self, switch: int) -> str:
        """A switch's record."""
        fabric = self._fabric
        guid = int(fabric.switch_guid[switch])
        ports = "".join(line for _, line in sorted(self._lines[switch]))
        return (
            f"\nvendid=0x0\ndevid=0x0\nsysimgguid=0x{int(fabric.switch_system_guid[switch]):x}\n"
            f"switchguid=0x{guid:x}({guid:x})\n"
            f'Switch\t{fabric.switch_ports[switch]} "S-{guid:016x}"\t\t'
            f'# "{self._switch_names[switch]}" base port 0 lid {fabric.switch_lid[switch]} lmc 0\n'
            f"{ports}"
        )

    def adapter(self, hosts: list[int]) -> str:
        """The record of an adapter and its ports."""
        fabric = self._fabric
        first = hosts[0]
        guid = int(fabric.host_guid[first])
        ports = max(int(fabric.host_adapter_port[host]) for host in hosts)
        lines = [
            f"\nvendid=0x0\ndevid=0x0\nsysimgguid=0x{int(fabric.host_system_guid[first]):x}\n"
            f"caguid=0x{guid:x}\n"
            f'Ca\t{ports} "H-{guid:016x}"\t\t# "{self._host_names[first]}"\n'
        ]
        for host in sorted(hosts, key=lambda host: int(fabric.host_adapter_port[host])):
            switch = int(fabric.host_switch[host])
            lines.append(
                f"[{fabric.host_adapter_port[host]}]({int(fabric.host_port_guid[host]):x}) \t"
                f'"S-{int(fabric.switch_guid[switch]):016x}"[{fabric.host_port[host]}]\t\t'
                f"# lid {fabric.host_lid[host]} lmc {fabric.host_lmc[host]} "
                f'"{self._switch_names[switch]}" lid {fabric.switch_lid[switch]} '
                f"{self._rates[int(fabric.host_rate[host])]}\n"
            )
        return "".join(lines)


_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


def one_line(name: str) -> str:
    """A name without control characters, each a space instead, as ibnetdiscover prints them."""
    return _CONTROL.sub(" ", name)


def in_quotes(name: str) -> str:
    """A name to stand between double quotes in a format that knows no escapes."""
    return one_line(name).replace('"', "'")


def check_lids(fabric: Fabric, kind: str) -> None:
    """Refuses a fabric whose addresses are no LIDs.

    Raises:
        UsageError: an address above 49151, where unicast LIDs end.
    """
    last_of_hosts = fabric.host_lid.astype("u8") + (1 << fabric.host_lmc.astype("u8")) - 1
    lids = (last_of_hosts, fabric.switch_lid, fabric.other_lid)
    largest = max(int(column.max(initial=0)) for column in lids)
    if largest > LARGEST_LID:
        raise UsageError(
            f"{kind} cannot hold this fabric: unicast LIDs end at {LARGEST_LID}, but it needs "
            f"{largest}; a .fabric file can"
        )
