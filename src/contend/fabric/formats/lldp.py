"""What Ethernet switches and hosts hear of their neighbours by LLDP, as their tools print it.

A device tells what is at the other ends of its cables, not who it is itself. So either one file
holds the outputs of many devices by name, or a folder holds a file for each, called as the device.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from contend.errors import InputError
from contend.fabric.formats.lldp_network import Heard, subnet_of
from contend.fabric.formats.lldp_outputs import heard_in, heard_in_text, is_text, only
from contend.fabric.subnet import Subnet
from contend.units import counted

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
    passed = f"{counted(len(others), 'file')} without what LLDP heard passed over"
    return subnet_of(heard, source, notes=[f"{passed}: {', '.join(others[:3])}{more}"])


def _text(chunks: Iterable[bytes], source: str) -> str:
    pieces: list[bytes] = []
    size = 0
    for chunk in chunks:
        pieces.append(chunk)
        size += len(chunk)
        if size > _LARGEST_FILE:
            raise InputError(source, 0, f"at most {_LARGEST_FILE} bytes of what LLDP heard", "more")
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
            expected = f'what LLDP heard below "{name[:40]}"'
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
