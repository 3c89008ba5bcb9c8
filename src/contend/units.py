"""Units at the edge: inside contend everything is in seconds, bytes and bytes per second."""

from __future__ import annotations

import re

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


def format_bandwidth(bytes_per_second: float) -> str:
    """Bandwidth for people, in decimal bits as network engineers write it: ``200 Gbit/s``."""
    bits = 8 * bytes_per_second
    for unit in ("bit/s", "kbit/s", "Mbit/s", "Gbit/s"):
        if abs(bits) < 1000:
            return f"{bits:.4g} {unit}"
        bits /= 1000
    return f"{bits:.4g} Tbit/s"
