"""What Ethernet switches and hosts hear of their neighbours by LLDP, as their tools print it.

A device tells what is at the other ends of its cables, not who it is itself. So either one file
holds the outputs of many devices by name, or a folder holds a file for each, called as the device.
Known are lldpd, its lldpctl as JSON and as text, NVUE (``nv show interface lldp -o json``) and
Arista EOS (``show lldp neighbors detail | json``).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from contend.base.errors import InputError
from contend.base.units import counted
from contend.fabric.formats.lldp_devices import Heard, chassis_identity, ethernet_address
from contend.fabric.formats.lldp_network import subnet_of
from contend.fabric.subnet import Subnet

_HEARD_AT = re.compile(
    r"^Interface:[ \t]+(\S[^,\n]{0,200}), via: ([A-Za-z0-9]{1,16})", re.MULTILINE
)
_SETTING = re.compile(r"[ \t]+([A-Za-z][A-Za-z ]{0,40}):[ \t]+(\S.{0,4000})")
_SPEED = re.compile(r"(\d{1,4})(G?)[Bb](?:ase|ASE)")
_GIGABITS = re.compile(r"(\d{1,4})G")
_FORWARDS = {"bridge", "router"}
_CONTROLLER = re.compile(r"\b(?:i?drac|ilo|xcc|bmc|ipmi)\b|\bi?DRAC|\biLO", re.IGNORECASE)


def only(value: Any) -> Any:
    """What stands in a list of one, as ``-f json0`` wraps everything."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value


def heard_in(output: Any, source: str) -> list[Heard] | None:
    """What a device heard by its output in JSON; None where it is no output of one device.

    Raises:
        InputError: it begins as such an output and does not go on as one.
    """
    if not isinstance(output, dict):
        return None
    if "lldpNeighbors" in output:
        return list(_of_eos(output["lldpNeighbors"], source))
    if "lldp" in output:
        return list(_of_lldpctl(output["lldp"], source))
    if any(_nvue_neighbours(port) for port in output.values()):
        return list(_of_nvue(output))
    return None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _object(value: Any) -> dict[str, Any]:
    value = only(value)
    return value if isinstance(value, dict) else {}


def _value(part: Any) -> str:
    """A text, alone or as ``{"value": text}``."""
    part = only(part)
    if isinstance(part, dict):
        part = part.get("value", "")
    return part if isinstance(part, str) else ""


def _neighbour(
    port: str,
    *,
    name: str,
    identity: str,
    kind: str,
    capabilities: Iterable[str],
    peer_ports: Iterable[str],
    rate: str,
    description: str = "",
) -> Heard:
    """A neighbour from what every tool tells.

    `capabilities` are those that are switched on, `kind` is the subtype of the chassis id.
    """
    enabled = {capability.lower() for capability in capabilities}
    address = ethernet_address(identity)
    return Heard(
        port=port,
        name=name or address or identity,
        address=int(address.replace(":", ""), 16) if address else 0,
        forwards=bool(enabled & _FORWARDS),
        peer_ports=tuple(one for one in peer_ports if one),
        rate=rate,
        guest="telephone" in enabled
        or _CONTROLLER.search(f"{name[:200]} {description[:200]}") is not None,
        identity=chassis_identity(identity, kind),
    )


def _rate(text: str) -> str:
    """``100GbE``, from what a port's transceiver is."""
    match = _SPEED.search(text)
    return "" if match is None else _of_gigabits(int(match[1]) / (1 if match[2] else 1000))


def _of_gigabits(gigabits: float) -> str:
    return f"{gigabits:g}GbE" if 0 < gigabits < 10_000 else ""


def _of_lldpctl(lldp: Any, source: str) -> Iterator[Heard]:
    """The neighbours of a device, those heard by LLDP where a port has others too."""
    lldp = only(lldp)
    found: list[tuple[str, dict[str, Any]]] = []
    for part in _listed(lldp.get("interface", []) if isinstance(lldp, dict) else lldp):
        if not isinstance(part, dict):
            raise InputError(source, 0, "an object for each interface", repr(part)[:60])
        # json0 gives the name beside the rest, json above it.
        named = isinstance(part.get("name"), str)
        rows = [(part["name"], part)] if named else list(part.items())
        found += [(port, entry) for port, entries in rows for entry in _listed(entries)]
    for port, entry in found:
        if not isinstance(entry, dict):
            raise InputError(source, 0, f'the neighbours of "{port[:40]}"', repr(entry)[:60])
    by_lldp = {port for port, entry in found if entry.get("via", "LLDP") == "LLDP"}
    for port, entry in found:
        if port in by_lldp and entry.get("via", "LLDP") != "LLDP":
            continue
        heard = _entry_of_lldpctl(port, entry)
        if heard is not None:
            yield heard


def _entry_of_lldpctl(port: str, entry: dict[str, Any]) -> Heard | None:
    chassis = only(entry.get("chassis"))
    if not isinstance(chassis, dict):
        return None
    name = _value(chassis.get("name"))
    if len(chassis) == 1 and "id" not in chassis:
        name, chassis = next(iter(chassis.items()))
        chassis = only(chassis)
    if not isinstance(chassis, dict):
        return None
    far = _object(entry.get("port"))
    number, described = _value(far.get("id")), _value(far.get("descr"))
    by_name = _object(far.get("id")).get("type") in ("ifname", "local")
    return _neighbour(
        port,
        name=name,
        identity=_value(chassis.get("id")),
        kind=_value(_object(chassis.get("id")).get("type")),
        capabilities=(
            str(one.get("type", ""))
            for one in _listed(chassis.get("capability"))
            if isinstance(one, dict) and one.get("enabled") is True
        ),
        peer_ports=(number, described) if by_name else (described, number),
        rate=_rate(_value(_object(far.get("auto-negotiation")).get("current"))),
        description=_value(chassis.get("descr")),
    )


def _of_eos(neighbours: Any, source: str) -> Iterator[Heard]:
    if not isinstance(neighbours, dict):
        expected = "the output of show lldp neighbors detail | json"
        raise InputError(source, 0, expected, "that of a command without detail")
    for port, told in neighbours.items():
        for entry in map(_object, _listed(_object(told).get("lldpNeighborInfo", []))):
            far = _object(entry.get("neighborInterfaceInfo"))
            quoted = _value(far.get("interfaceId_v2")) or _value(far.get("interfaceId"))
            number, described = quoted.strip('"'), _value(far.get("interfaceDescription"))
            # A description is anything that its owner wrote, unless the port has no name.
            by_name = far.get("interfaceIdType") != "macAddress"
            capabilities = _object(entry.get("systemCapabilities"))
            yield _neighbour(
                port,
                name=_value(entry.get("systemName")),
                identity=_value(entry.get("chassisId")),
                kind=_value(entry.get("chassisIdType")),
                capabilities=(name for name, enabled in capabilities.items() if enabled is True),
                peer_ports=(number, described) if by_name else (described, number),
                rate="",
                description=_value(entry.get("systemDescription")),
            )


def _nvue_neighbours(port: Any) -> dict[str, Any]:
    return _object(_object(_object(port).get("lldp")).get("neighbor"))


def _of_nvue(output: dict[str, Any]) -> Iterator[Heard]:
    for port, told in output.items():
        speed = _GIGABITS.fullmatch(_value(_object(_object(told).get("link")).get("speed")))
        for called, entry in _nvue_neighbours(told).items():
            entry = _object(entry)
            chassis, far = _object(entry.get("chassis")), _object(entry.get("port"))
            number, described = _value(far.get("name")), _value(far.get("description"))
            by_name = far.get("type", "ifname") in ("ifname", "local")
            capabilities = _object(chassis.get("capability"))
            negotiated = _value(_object(far.get("pmd-autoneg")).get("mau-oper-type"))
            yield _neighbour(
                port,
                name=_value(chassis.get("system-name")) or called,
                identity=_value(chassis.get("chassis-id")),
                kind=_value(chassis.get("chassis-id-type")),
                capabilities=(
                    name.removeprefix("is-")
                    for name, state in capabilities.items()
                    if state == "on"
                ),
                peer_ports=(number, described) if by_name else (described, number),
                rate=_of_gigabits(int(speed[1])) if speed else _rate(negotiated),
                description=_value(chassis.get("system-description")),
            )


def is_text(text: str) -> bool:
    """Whether this begins as lldpctl's output in words."""
    return _HEARD_AT.search(text) is not None


def heard_in_text(text: str) -> list[Heard]:
    """What a device heard by what ``lldpctl`` or ``lldpcli show neighbors`` prints in words."""
    begins = list(_HEARD_AT.finditer(text))
    by_lldp = {begin[1] for begin in begins if begin[2] == "LLDP"}
    ends = [*(begin.start() for begin in begins[1:]), len(text)]
    return [
        _paragraph(begin[1], text[begin.end() : end])
        for begin, end in zip(begins, ends, strict=True)
        if begin[2] == "LLDP" or begin[1] not in by_lldp
    ]


def _paragraph(port: str, text: str) -> Heard:
    told: dict[str, str] = {}
    capabilities = []
    for row in text.split("\n"):
        setting = _SETTING.match(row)
        if setting is None:
            continue
        key, value = setting[1], setting[2].strip()
        if key == "Capability":
            name, _, state = value.partition(",")
            capabilities += [name] if state.strip() == "on" else []
        else:
            told.setdefault(key, value)
    kind, _, number = told.get("PortID", "").partition(" ")
    chassis_kind, _, chassis = told.get("ChassisID", "").partition(" ")
    described = told.get("PortDescr", "")
    return _neighbour(
        port,
        name=told.get("SysName", ""),
        identity=chassis,
        kind=chassis_kind,
        capabilities=capabilities,
        peer_ports=(number, described) if kind in ("ifname", "local") else (described, number),
        rate=_rate(told.get("MAU oper type", "")),
        description=told.get("SysDescr", ""),
    )


_OBJECT = re.compile(rb"^[ \t]*[\[{]\s*[\[{\"]", re.MULTILINE)
_KEYS = (b'"lldp"', b'"lldpNeighbors"')
_BEGINS = re.compile(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_SUFFIX = re.compile(r"\.(?:gz|bz2|xz|zst|zip)$")
_KIND = re.compile(r"(?<=.)\.(?:json0?|txt|out|log|lldp(?:ctl)?)$")
_LARGEST_FILE = 1 << 26


def recognises(head: bytes) -> bool:
    """Whether what LLDP heard begins within the head, as JSON or as text."""
    if _OBJECT.search(head) is not None and any(key in head for key in _KEYS):
        return True
    return is_text(head.decode("utf-8", "replace"))


def is_named(name: str) -> bool:
    """Whether a file's name says that it is such output, whatever it holds."""
    return re.search(r"\.json0?(?:\.(?:gz|bz2|xz|zst))?$", name) is not None


def read(chunks: Iterable[bytes], source: str) -> Subnet:
    """Reads the output of one device, which the file's name tells, or of many by name.

    Raises:
        InputError: not an output of a kind that is known, or more than 64 MiB.
    """
    return read_files([(source, chunks)], source)


def read_files(
    files: Iterable[tuple[str, Iterable[bytes]]], source: str, others: Sequence[str] = ()
) -> Subnet:
    """Reads several such files, each called as its device or with outputs by name.

    Args:
        files: the name of each, for errors too, and its content.
        source: the name of all.
        others: names of files beside them, which are told: one may be of a device that was down.

    Raises:
        InputError: as `read`.
    """
    heard: dict[str, list[Heard]] = {}
    for name, chunks in files:
        for device, entries in _outputs(_text(chunks, name), name).items():
            # Who tells neither a name nor an address is nobody in particular.
            heard.setdefault(device, []).extend(entry for entry in entries if entry.name)
    if not others:
        return subnet_of(heard, source)
    more = ", ..." if len(others) > 3 else ""
    skipped = f"skipped {counted(len(others), 'file')} without LLDP neighbours"
    return subnet_of(heard, source, notes=[f"{skipped}: {', '.join(others[:3])}{more}"])


def _text(chunks: Iterable[bytes], source: str) -> str:
    pieces: list[bytes] = []
    size = 0
    for chunk in chunks:
        pieces.append(chunk)
        size += len(chunk)
        if size > _LARGEST_FILE:
            raise InputError(source, 0, f"at most {_LARGEST_FILE} bytes of LLDP neighbours", "more")
    return b"".join(pieces).decode("utf-8", "backslashreplace").removeprefix("\ufeff")


def _outputs(text: str, source: str) -> dict[str, list[Heard]]:
    """What every device heard, by its name."""
    own = Path(source).name
    for suffix in (_SUFFIX, _KIND, _KIND):
        own = suffix.sub("", own)
    if is_text(text):
        return {own: heard_in_text(text)}
    document = only(_document(text, source))
    entries = heard_in(document, source)
    if entries is not None:
        return {own: entries}
    if not isinstance(document, dict):
        expected = "an object of lldpctl, or one such by device"
        raise InputError(source, 0, expected, repr(document)[:60])
    outputs: dict[str, list[Heard]] = {}
    for name, output in document.items():
        entries = heard_in(only(output), source)
        if entries is None:
            expected = f'LLDP neighbours below "{name[:40]}"'
            raise InputError(source, 0, expected, repr(output)[:60])
        outputs[name] = entries
    return outputs


def _document(text: str, source: str) -> Any:
    """The JSON of a file; prompts and other lines before and behind it are passed over."""
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
