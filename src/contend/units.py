"""Units at the edge: inside contend everything is in seconds, bytes and bytes per second."""

from __future__ import annotations

import math
import re
from fractions import Fraction

# Data bits per second and lane after line coding (InfiniBand architecture, volume 2).
_LANE_BITS_PER_SECOND = {
    "SDR": 2e9,
    "DDR": 4e9,
    "QDR": 8e9,
    "FDR10": 10e9,
    "FDR": 13.636363636e9,
    "EDR": 25e9,
    "HDR": 50e9,
    "NDR": 100e9,
    "XDR": 200e9,
}
_SIZE = re.compile(r"([0-9]{1,19}(?:\.[0-9]{1,19})?) ?([A-Za-z]{0,3})")
_SIZE_UNITS = {
    "": 1,
    "B": 1,
    "KB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "TB": 1000**4,
    "KIB": 1 << 10,
    "MIB": 1 << 20,
    "GIB": 1 << 30,
    "TIB": 1 << 40,
}
_PER_SECOND = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?) ?([kKMGT]?)(bit|b|B|Byte)(?:/s|ps)?")
_DECIMAL = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_TIME = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(s|min|m|h|)")
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_RATE = re.compile(r"(\d{1,2})x([A-Z0-9]+)")


def rate_of(label: str) -> float | None:
    """Bytes per second of a link rate such as ``4xHDR``, or None when the label is not known."""
    match = _RATE.fullmatch(label)
    if match is None or match[2] not in _LANE_BITS_PER_SECOND:
        return None
    return int(match[1]) * _LANE_BITS_PER_SECOND[match[2]] / 8


def counted(number: int, thing: str) -> str:
    """A number of things for people: ``1 host``, ``3,675 hosts``, ``2 switches``."""
    plural = "" if number == 1 else "es" if thing.endswith("ch") else "s"
    return f"{number:,} {thing}{plural}"


def format_bytes(count: float) -> str:
    """Bytes for people, in binary units: ``512 B``, ``1.5 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} TiB"


def parse_bytes(text: str) -> int | None:
    """Whole bytes of a size such as ``24GiB``, ``1.5 GB`` (decimal) or ``4096``.

    None when it is no size, less than a byte, or too much for 64 bits.
    """
    match = _SIZE.fullmatch(text)
    unit = _SIZE_UNITS.get(match[2].upper()) if match else None
    if match is None or unit is None:
        return None
    count = int(Fraction(match[1]) * unit)
    return count if 1 <= count < 1 << 63 else None


def parse_rate(text: str) -> float | None:
    """Bytes per second of a rate such as ``1Gbit``, ``100 Mbit/s``, ``12.5GB/s`` or ``4xHDR``.

    Units are decimal. None when it is no rate, or none above 0.
    """
    if (known := rate_of(text)) is not None:
        return known
    match = _PER_SECOND.fullmatch(text)
    if match is None:
        return None
    bits = 1 if match[3].startswith("b") else 8
    rate = float(match[1]) * _DECIMAL[match[2].upper()] * bits / 8
    return rate if rate > 0 else None


def parse_seconds(text: str) -> float | None:
    """Seconds of a time such as ``90``, ``90s``, ``5min`` or ``1.5h``; None when it is none."""
    match = _TIME.fullmatch(text)
    return float(match[1]) * _SECONDS[match[2]] if match else None


def format_seconds(seconds: float) -> str:
    """A time for people: ``1.5 µs``, ``40 s``, ``5 min``, ``2.5 h``."""
    for unit, size in (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3)):
        # Two minutes are 120 s to most people, and one hour 60 min.
        if abs(seconds) >= (2 * size if size > 1 else size):
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def round_half_up(value: Fraction) -> int:
    """The nearest integer, the upper one of two: 40.5 becomes 41 and 20.25 becomes 20."""
    return math.floor(value + Fraction(1, 2))


def format_bandwidth(bytes_per_second: float) -> str:
    """Bandwidth for people, in decimal bits as network engineers write it: ``200 Gbit/s``."""
    bits = 8 * bytes_per_second
    for unit in ("bit/s", "kbit/s", "Mbit/s", "Gbit/s"):
        if abs(bits) < 1000:
            return f"{bits:.4g} {unit}"
        bits /= 1000
    return f"{bits:.4g} Tbit/s"
