"""What Ethernet switches and hosts hear of their neighbours by LLDP: ``lldpctl -f json``.

A device tells what is at the other ends of its cables, not who it is itself. So either one file
holds the outputs of many devices by name, or a folder holds a file for each, called as the device.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contend.errors import InputError
from contend.fabric.formats.source import open_chunks
from contend.fabric.subnet import NodeKind, Subnet, SubnetBuilder
from contend.units import counted

_OBJECT = re.compile(rb"^[ \t]*[\[{]", re.MULTILINE)
_BEGINS = re.compile(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_SUFFIX = re.compile(r"\.json0?(?:\.(?:gz|bz2|xz|zst|zip))?$")
_DIGITS = re.compile(r"\d+")
_LAST_NUMBER = re.compile(r"(?:^|\D)(\d{1,5})$")
_ADDRESS = re.compile(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}|[\d.]+|[0-9A-Fa-f:]*:[0-9A-Fa-f:]*")
_MANAGEMENT = re.compile(r"(?:eth|em|me|ma|fxp|mgmt|Management)[-_\d/.]{0,8}", re.IGNORECASE)
_SPEED = re.compile(r"(\d{1,4})(G?)[Bb](?:ase|ASE)")
_FORWARDS = {"bridge", "router"}
_LARGEST_FILE = 1 << 26
_MOST_FILES = 1 << 16
_MOST_PORT = 0xFFFE
_FIRST_GUID = 0x4_0000_0000


@dataclass(frozen=True)
class _Heard:
    """A neighbour at a port: its name, its address (0: unknown), whether it forwards, its port."""

    port: str
    name: str
    address: int
    forwards: bool
    peer_ports: tuple[str, ...]
    rate: str


def recognises(head: bytes) -> bool:
    """Whether JSON with what LLDP heard begins within the head."""
    return _OBJECT.search(head) is not None and b'"lldp"' in head


def read(chunks: Iterable[bytes], source: str) -> Subnet:
    """Reads the output of one device, which the file's name tells, or of many by name.

    Raises:
        InputError: no JSON, or not that of lldpctl.
    """
    return _subnet(_outputs(_document(chunks, source), source), source)


def read_folder(folder: str) -> Subnet | None:
    """Reads all ``.json`` files of a folder, each called as its device; None where it has none.

    Raises:
        InputError: a file that is not of lldpctl.
    """
    paths = sorted(path for path in Path(folder).iterdir() if _SUFFIX.search(path.name))
    if len(paths) > _MOST_FILES:
        raise InputError(folder, 0, f"at most {_MOST_FILES} files", str(len(paths)))
    heard: dict[str, list[_Heard]] = {}
    for path in paths:
        for name, entries in _outputs(
            _document(open_chunks(str(path)), str(path)), str(path)
        ).items():
            heard.setdefault(name, []).extend(entries)
    return _subnet(heard, folder) if heard else None


def _document(chunks: Iterable[bytes], source: str) -> Any:
    """The JSON of a file; prompts and other lines before and behind it are passed over."""
    pieces: list[bytes] = []
    size = 0
    for chunk in chunks:
        pieces.append(chunk)
        size += len(chunk)
        if size > _LARGEST_FILE:
            raise InputError(source, 0, f"at most {_LARGEST_FILE} bytes of JSON", "more")
    text = b"".join(pieces).decode("utf-8", "backslashreplace").removeprefix("\ufeff")
    decoder = json.JSONDecoder(object_pairs_hook=_several)
    failed: InputError | None = None
    for begin in _BEGINS.finditer(text):
        try:
            return decoder.raw_decode(text, begin.end())[0]
        except RecursionError:
            raise InputError(source, 0, "the JSON of lldpctl", "one nested too deeply") from None
        except ValueError as error:
            line = getattr(error, "lineno", 0)
            message = getattr(error, "msg", "a number beyond reason")
            failed = failed or InputError(source, line, "JSON", message)
        # A prompt may begin with a bracket; what is no JSON by then has none.
        if text.count("\n", 0, begin.end()) > 100:
            break
    raise failed or InputError(source, 0, "the JSON of lldpctl", "none")


def _several(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; what comes several times under one name, as old versions print it, is a list."""
    result: dict[str, Any] = {}
    counts = Counter(name for name, _ in pairs)
    for name, value in pairs:
        if counts[name] > 1:
            result.setdefault(name, []).append(value)
        else:
            result[name] = value
    return result


def _outputs(document: Any, source: str) -> dict[str, list[_Heard]]:
    """What every device heard, by its name."""
    document = _only(document)
    if not isinstance(document, dict):
        raise InputError(source, 0, "an object of lldpctl, or one such by device", _what(document))
    if "lldp" in document:
        return {_SUFFIX.sub("", Path(source).name): list(_entries(document["lldp"], source))}
    outputs: dict[str, list[_Heard]] = {}
    for name, output in document.items():
        output = _only(output)
        if not isinstance(output, dict) or "lldp" not in output:
            raise InputError(source, 0, f'"lldp" below "{name[:40]}"', _what(output))
        outputs[name] = list(_entries(output["lldp"], source))
    return outputs


def _only(value: Any) -> Any:
    """What stands in a list of one, as ``-f json0`` wraps everything."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value


def _what(value: Any) -> str:
    return repr(value)[:60]


def _entries(lldp: Any, source: str) -> Iterator[_Heard]:
    """The neighbours of a device, those heard by LLDP where a port has others too."""
    lldp = _only(lldp)
    found: list[tuple[str, dict[str, Any]]] = []
    for part in _listed(lldp.get("interface", []) if isinstance(lldp, dict) else lldp):
        if not isinstance(part, dict):
            raise InputError(source, 0, "an object for each interface", _what(part))
        # json0 gives the name beside the rest, json above it.
        named = isinstance(part.get("name"), str)
        rows = [(part["name"], part)] if named else list(part.items())
        found += [(port, entry) for port, entries in rows for entry in _listed(entries)]
    for port, entry in found:
        if not isinstance(entry, dict):
            raise InputError(source, 0, f'what is heard at "{port[:40]}"', _what(entry))
    by_lldp = {port for port, entry in found if entry.get("via", "LLDP") == "LLDP"}
    for port, entry in found:
        if port in by_lldp and entry.get("via", "LLDP") != "LLDP":
            continue
        heard = _heard(port, entry)
        if heard is not None:
            yield heard


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _heard(port: str, entry: dict[str, Any]) -> _Heard | None:
    chassis = _only(entry.get("chassis"))
    if not isinstance(chassis, dict):
        return None
    name = _value(chassis.get("name"))
    if len(chassis) == 1 and "id" not in chassis:
        name, chassis = next(iter(chassis.items()))
        chassis = _only(chassis)
    if not isinstance(chassis, dict):
        return None
    identity = _value(chassis.get("id"))
    far = _only(entry.get("port"))
    far = far if isinstance(far, dict) else {}
    number, described = _value(far.get("id")), _value(far.get("descr"))
    kind = _only(far.get("id"))
    by_name = isinstance(kind, dict) and kind.get("type") in ("ifname", "local")
    ports = (number, described) if by_name else (described, number)
    return _Heard(
        port=port,
        name=name or identity,
        address=int(identity.replace(":", ""), 16) if _is_mac(identity) else 0,
        forwards=any(
            isinstance(one, dict)
            and str(one.get("type", "")).lower() in _FORWARDS
            and one.get("enabled") is True
            for one in _listed(chassis.get("capability"))
        ),
        peer_ports=tuple(one for one in ports if one),
        rate=_rate(far),
    )


def _is_mac(text: str) -> bool:
    return len(text) == 17 and _ADDRESS.fullmatch(text) is not None


def _value(part: Any) -> str:
    """A text, alone or as ``{"value": text}``."""
    part = _only(part)
    if isinstance(part, dict):
        part = part.get("value", "")
    return part if isinstance(part, str) else ""


def _rate(far: dict[str, Any]) -> str:
    """``100GbE``, from what the port's transceiver is."""
    negotiation = _only(far.get("auto-negotiation"))
    current = _value(negotiation.get("current")) if isinstance(negotiation, dict) else ""
    match = _SPEED.search(current)
    if match is None:
        return ""
    gigabits = int(match[1]) / (1 if match[2] else 1000)
    return f"{gigabits:g}GbE" if 0 < gigabits < 10_000 else ""


class _Network:
    """Devices and cables, put together from what all of them heard."""

    def __init__(self, heard: dict[str, list[_Heard]]) -> None:
        everybody = {*heard, *(one.name for entries in heard.values() for one in entries)}
        self._names = _short_names(everybody)
        self.heard: dict[str, list[_Heard]] = defaultdict(list)
        for name, entries in heard.items():
            self.heard[self._names[name]] += entries
        self.address: dict[str, int] = {}
        self.forwards: dict[str, bool] = {}
        self.cables: dict[frozenset[tuple[str, str]], str] = {}
        own = {name: {one.port for one in entries} for name, entries in self.heard.items()}
        for name, entries in self.heard.items():
            for one in entries:
                far = self._names[one.name]
                self.address.setdefault(far, one.address)
                self.forwards[far] = self.forwards.get(far, False) or one.forwards
                known = [port for port in one.peer_ports if port in own.get(far, ())]
                port = (*known, *one.peer_ports, "?")[0]
                cable = frozenset({(name, one.port), (far, port)})
                self.cables[cable] = self.cables.get(cable, "") or one.rate
        self.unseen = [name for name in self.heard if name not in self.forwards]
        self.left_out = 0
        self._leave_out_management()

    def devices(self) -> dict[str, list[str]]:
        """Ports in use of every device, in the order of their names."""
        ports: dict[str, set[str]] = defaultdict(set)
        for cable in self.cables:
            for name, port in cable:
                ports[name].add(port)
        return {name: sorted(ports[name], key=_natural) for name in sorted(ports, key=_natural)}

    def switches(self, devices: dict[str, list[str]]) -> set[str]:
        """Devices that forward and have more than one cable."""
        neighbours: dict[str, set[str]] = defaultdict(set)
        for cable in self.cables:
            for name, _ in cable:
                neighbours[name] |= {other for other, _ in cable if other != name}
        forwarding = {name for name, does in self.forwards.items() if does}
        # Whom nobody heard of is a switch if some neighbour is none.
        forwarding |= {name for name in self.unseen if neighbours[name] - forwarding}
        return {name for name in forwarding if len(devices.get(name, ())) > 1}

    def _leave_out_management(self) -> None:
        """Drops cables of switches' management ports, which are called unlike their others."""
        devices = self.devices()
        aside = {
            (name, port)
            for name in self.switches(devices)
            for port in devices[name]
            if _MANAGEMENT.fullmatch(port) and len({_family(one) for one in devices[name]}) > 1
        }
        kept = {cable: rate for cable, rate in self.cables.items() if not cable & aside}
        if kept:
            self.left_out = len(self.cables) - len(kept)
            self.cables = kept


def _short_names(names: set[str]) -> dict[str, str]:
    """Names without their domains, where that tells them apart."""
    domains: dict[str, set[str]] = defaultdict(set)
    for name in names:
        short, dot, domain = name.partition(".")
        if dot:
            domains[short].add(domain)
    return {
        name: name
        if _ADDRESS.fullmatch(name) or len(domains[name.partition(".")[0]]) > 1
        else name.partition(".")[0] or name
        for name in names
    }


def _natural(name: str) -> tuple[str, list[tuple[int, int]], str]:
    """A key by which port 2 comes before port 10."""
    numbers = [(len(digits.lstrip("0")), int(digits[:30])) for digits in _DIGITS.findall(name)]
    return _DIGITS.sub("0", name), numbers, name


def _family(port: str) -> str:
    return re.split(r"[-_\d/.]", port, maxsplit=1)[0].lower()


def _subnet(heard: dict[str, list[_Heard]], source: str) -> Subnet:
    network = _Network(heard)
    devices = network.devices()
    switches = network.switches(devices)
    if not devices:
        raise InputError(source, 0, "neighbours that LLDP heard of", "none")
    builder = SubnetBuilder(source)
    shared = Counter(network.address.get(name, 0) for name in devices)
    order = [*(n for n in devices if n not in switches), *(n for n in devices if n in switches)]
    rows, guids, numbers = {}, [], {}
    lid = 1
    lids: dict[tuple[str, str], int] = {}
    for index, name in enumerate(order):
        address = network.address.get(name, 0)
        guids.append(address if address and shared[address] == 1 else _FIRST_GUID + index)
        numbers[name] = _port_numbers(devices[name], in_name=name in switches)
        if name not in switches:
            for port in devices[name]:
                lids[name, port] = lid
                lid += 1
    for name, guid in zip(order, guids, strict=True):
        is_switch = name in switches
        kind = NodeKind.SWITCH if is_switch else NodeKind.ADAPTER
        rows[name] = builder.node(
            kind, name, guid=guid, system_guid=guid, lid=lid if is_switch else 0
        )
        lid += is_switch
    for cable, rate in network.cables.items():
        ends = sorted(cable, key=lambda end: rows[end[0]])
        # A cable from a port to itself is a loop that the judge tells of.
        for (near, port), (far, peer_port) in ((ends[0], ends[-1]), (ends[-1], ends[0])):
            builder.end(
                rows[near],
                numbers[near][port],
                rows[far],
                numbers[far][peer_port],
                port_guid=0 if near in switches else guids[rows[near]] + numbers[near][port] - 1,
                lid=lids.get((near, port), 0),
                rate=rate,
            )
    return builder.subnet(tuple(_notes(network, devices, switches)))


def _port_numbers(ports: list[str], *, in_name: bool) -> dict[str, int]:
    """Numbers of ports: those in their names, where all have one of their own, else in order."""
    matches = [_LAST_NUMBER.search(port) for port in ports]
    numbers = [int(match[1]) if match else 0 for match in matches]
    fits = all(0 < number <= _MOST_PORT for number in numbers) and len(set(numbers)) == len(ports)
    if not (in_name and fits):
        numbers = list(range(1, len(ports) + 1))
    return dict(zip(ports, numbers, strict=True))


def _notes(network: _Network, devices: dict[str, list[str]], switches: set[str]) -> Iterator[str]:
    silent = [name for name in devices if name in switches and name not in network.heard]
    if silent:
        yield (
            f"{counted(len(silent), 'switch')} known from neighbours only, whose hosts may be "
            f'missing: "{silent[0]}"{", ..." if len(silent) > 1 else ""}'
        )
    single = sum(network.forwards.get(name, False) for name in devices if name not in switches)
    if single:
        yield f"{counted(single, 'device')} with one cable counted as hosts, although they forward"
    if network.left_out:
        yield f"{counted(network.left_out, 'cable')} of switches' management ports left out"
    if any(not rate for rate in network.cables.values()):
        yield "LLDP tells no speed of some cables, which is unknown"
