"""What Ethernet switches and hosts hear of their neighbours by LLDP: ``lldpctl -f json``.

A device tells what is at the other ends of its cables, not who it is itself. So either one file
holds the outputs of many devices by name, or a folder holds a file for each, called as the device.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from contend.errors import InputError
from contend.fabric.formats.lldp_network import ADDRESS, Heard, subnet_of
from contend.fabric.formats.source import open_chunks
from contend.fabric.subnet import Subnet

_OBJECT = re.compile(rb"^[ \t]*[\[{]", re.MULTILINE)
_BEGINS = re.compile(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_SUFFIX = re.compile(r"\.json0?(?:\.(?:gz|bz2|xz|zst|zip))?$")
_SPEED = re.compile(r"(\d{1,4})(G?)[Bb](?:ase|ASE)")
_FORWARDS = {"bridge", "router"}
_LARGEST_FILE = 1 << 26
_MOST_FILES = 1 << 16


def recognises(head: bytes) -> bool:
    """Whether JSON with what LLDP heard begins within the head."""
    return _OBJECT.search(head) is not None and b'"lldp"' in head


def read(chunks: Iterable[bytes], source: str) -> Subnet:
    """Reads the output of one device, which the file's name tells, or of many by name.

    Raises:
        InputError: no JSON, or not that of lldpctl.
    """
    return subnet_of(_outputs(_document(chunks, source), source), source)


def read_folder(folder: str) -> Subnet | None:
    """Reads all ``.json`` files of a folder, each called as its device; None where it has none.

    Raises:
        InputError: a file that is not of lldpctl.
    """
    paths = sorted(path for path in Path(folder).iterdir() if _SUFFIX.search(path.name))
    if len(paths) > _MOST_FILES:
        raise InputError(folder, 0, f"at most {_MOST_FILES} files", str(len(paths)))
    heard: dict[str, list[Heard]] = {}
    for path in paths:
        for name, entries in _outputs(
            _document(open_chunks(str(path)), str(path)), str(path)
        ).items():
            heard.setdefault(name, []).extend(entries)
    return subnet_of(heard, folder) if heard else None


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


def _outputs(document: Any, source: str) -> dict[str, list[Heard]]:
    """What every device heard, by its name."""
    document = _only(document)
    if not isinstance(document, dict):
        raise InputError(source, 0, "an object of lldpctl, or one such by device", _what(document))
    if "lldp" in document:
        return {_SUFFIX.sub("", Path(source).name): list(_entries(document["lldp"], source))}
    outputs: dict[str, list[Heard]] = {}
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


def _entries(lldp: Any, source: str) -> Iterator[Heard]:
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


def _heard(port: str, entry: dict[str, Any]) -> Heard | None:
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
    return Heard(
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
    return len(text) == 17 and ADDRESS.fullmatch(text) is not None


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
