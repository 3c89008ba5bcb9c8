"""Units at the edge: inside contend everything is in seconds, bytes and bytes per second."""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

from contend.base.errors import UsageError

Value = TypeVar("Value", int, float)
Item = TypeVar("Item")
Key = TypeVar("Key")

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
_NUMBER = r"([0-9]{1,19}(?:\.[0-9]{1,19})?)"
_SIZE = re.compile(_NUMBER + r" ?([A-Za-z]{0,3})")
# K alone is binary, as in probes and dd; kB is decimal, as on a disk's label.
_SIZE_UNITS = {
    "": 1,
    "B": 1,
    **{
        f"{prefix}{end}": 1024**power
        for power, prefix in enumerate("KMGT", 1)
        for end in ("", "IB")
    },
    **{f"{prefix}B": 1000**power for power, prefix in enumerate("KMGT", 1)},
}
# tc and ethtool write 10gbit.
_PER_SECOND = re.compile(_NUMBER + r" ?([kKMGT]?|[mgt](?=i?bit))(i?)(bit|b|B|Byte)(?:/s|ps)?")
_TIME = re.compile(_NUMBER + r" ?(ns|[uµμ]s|ms|s|min|m|h|)")
_SECONDS = {
    "": Fraction(1),
    "ns": Fraction(1, 10**9),
    **dict.fromkeys(("us", "µs", "μs"), Fraction(1, 10**6)),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "min": Fraction(60),
    "h": Fraction(3600),
}
_SHARE = re.compile(_NUMBER + r" ?(%?)")
_COUNT = re.compile(r"[0-9]{1,10}")
_MOST_BYTES = 2**63 - 1
# Far above any list that a person means: more is a typing error.
_MOST_NUMBERS = 100_000
_RATE = re.compile(r"(\d{1,2})x([A-Z0-9]+)")
_ETHERNET = re.compile(r"(\d{1,4}(?:\.\d{1,3})?)GbE")


def rate_of(label: str) -> float | None:
    """Bytes per second of a link rate such as ``4xHDR`` or ``100GbE``; None if it is unknown."""
    if ethernet := _ETHERNET.fullmatch(label):
        return float(ethernet[1]) * 1e9 / 8
    match = _RATE.fullmatch(label)
    if match is None or match[2] not in _LANE_BITS_PER_SECOND:
        return None
    return int(match[1]) * _LANE_BITS_PER_SECOND[match[2]] / 8


def counted(number: int, thing: str) -> str:
    """A number of things for people: ``1 host``, ``3,675 hosts``, ``2 switches``."""
    if number != 1:
        thing = re.sub(r"(?<=[^aeiou])y$", "ie", thing)
        thing += "es" if thing.endswith("ch") else "s"
    return f"{number:,} {thing}"


_PLURAL_VERBS = {"is": "are", "was": "were", "has": "have", "does": "do"}


def verb(number: int, singular: str) -> str:
    """A verb as a number of things takes it: ``is`` or ``are``, ``touches`` or ``touch``."""
    if number == 1:
        return singular
    bare = singular.removesuffix("es" if singular.endswith("ches") else "s")
    return _PLURAL_VERBS.get(singular, bare)


def listed(words: Iterable[str]) -> str:
    """Words as a sentence lists them: ``a``, ``a and b``, ``a, b and c``."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Items by what they have in common, the first of each in the order given."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def rounded(value: float, digits: int = 3) -> str:
    """A number to some digits, never as 1.15e+03: ``0.00012``, ``9.24``, ``115``, ``11,234``."""
    text = f"{value:,.{digits}g}"
    if "e" not in text:
        return text
    return f"{value:,.0f}" if abs(value) >= 1 else f"{Decimal(text):f}"


def format_bytes(count: float) -> str:
    """Bytes for people, in binary units: ``512 B``, ``1.5 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{rounded(count, 4)} {unit}"
        count /= 1024
    return f"{rounded(count, 4)} TiB"


def parse_size(text: str) -> int:
    """Whole bytes of a size: ``4096``, ``64K``, ``1.5MiB``, ``1.5 MB``.

    K, M, G, T and KiB, MiB, GiB, TiB are powers of 1024; kB, MB, GB, TB are powers of 1000.

    Raises:
        UsageError: it is no size, a part of a byte, or more bytes than 64 bits can count.
    """
    match = _SIZE.fullmatch(text.strip())
    unit = _SIZE_UNITS.get(match[2].upper()) if match else None
    if match is None or unit is None:
        raise UsageError(f"expected a size such as 512, 64K or 1MiB, got {text!r}")
    bytes_exactly = Fraction(match[1]) * unit
    if unit == 1 and bytes_exactly.denominator > 1:
        raise UsageError(f"expected whole bytes, got {text!r}")
    count = int(bytes_exactly)
    if count > _MOST_BYTES:
        raise UsageError(f"{text!r} is more bytes than 64 bits can count")
    return count


def parse_sizes(sizes: str | int | Sequence[int]) -> tuple[int, ...]:
    """Sizes as numbers, or as a list in words.

    That is ``1,2,4K``; ``1:1M`` doubles from the first while not above the last.

    Raises:
        UsageError: for what is no such list.
    """
    if isinstance(sizes, str):
        return _listed(sizes, parse_size)
    return (sizes,) if isinstance(sizes, int) else tuple(sizes)


def parse_numbers(text: str, least: int = 1) -> tuple[int, ...]:
    """Whole numbers in a list: ``2,4,8``; ``2:16`` doubles, ``1-4`` takes every one.

    Args:
        text: the list.
        least: the smallest number that makes sense.

    Raises:
        UsageError: for what is no such list, a number below `least`, or one that is repeated.
    """

    def number(text: str) -> int:
        # Not all that strip() takes for a blank is one to int().
        digits = text.strip()
        if not _COUNT.fullmatch(digits):
            raise UsageError(f"expected numbers such as 2,4,8 or 1-4, got {text!r}")
        return int(digits)

    numbers: list[int] = []
    for item in text.split(","):
        first, dash, last = item.partition("-")
        if not dash:
            numbers += _listed(item, number)
            continue
        low, high = number(first), number(last)
        if not low <= high < low + _MOST_NUMBERS:
            raise UsageError(f"expected a range such as 1-4, got {item!r}")
        numbers += range(low, high + 1)
    if min(numbers) < least:
        raise UsageError(f"expected numbers from {least}, got {min(numbers)}")
    if repeated := [value for value, count in Counter(numbers).items() if count > 1]:
        raise UsageError(f"expected every number once, got {repeated[0]} again in {text!r}")
    return tuple(numbers)


def _listed(text: str, parse: Callable[[str], int]) -> tuple[int, ...]:
    """The values of a list whose ranges double."""
    values: list[int] = []
    for item in text.split(","):
        first, colon, last = item.partition(":")
        value = parse(first)
        if not colon:
            values.append(value)
            continue
        most = parse(last)
        if not 1 <= value <= most:
            raise UsageError(f"expected a range that doubles from at least 1, got {item!r}")
        while value <= most:
            values.append(value)
            value *= 2
    return tuple(values)


def parse_share(text: str) -> float:
    """A share such as ``5%`` or ``0.05``.

    Raises:
        UsageError: it is none.
    """
    match = _SHARE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"expected a share such as 5% or 0.05, got {text!r}")
    return float(Fraction(match[1]) / (100 if match[2] else 1))


def parse_rate(text: str) -> float:
    """Bytes per second of a rate such as ``1Gbit``, ``100 Mbit/s``, ``12.5GB/s`` or ``4xHDR``.

    Units are decimal, but for those with an i.

    Raises:
        UsageError: it is no rate, or none above 0.
    """
    if (known := rate_of(text.strip())) is not None:
        return known
    match = _PER_SECOND.fullmatch(text.strip())
    power = "KMGT".find(match[2].upper()) + 1 if match and match[2] else 0
    if match is None or (match[3] and not power) or float(match[1]) == 0:
        raise UsageError(f"expected a rate such as 1Gbit/s, 12.5GB/s or 4xHDR, got {text!r}")
    bits = 1 if match[4].startswith("b") else 8
    return float(Fraction(match[1]) * (1024 if match[3] else 1000) ** power * bits / 8)


def rates_by_kind(text: str) -> list[tuple[str, str]]:
    """Kinds of cables with labels of their rates, of ``hosts=400GbE,level3=800Gbit/s``.

    Raises:
        UsageError: it is none.
    """
    found = []
    form = "a rate, or rates such as hosts=400GbE,switches=800GbE,level3=1.6Tbit/s"
    for kind, rate in words_by_kind(text, form):
        # What has no name of its own is named in the whole and parts of a gigabit per second.
        gigabits = f"{parse_rate(rate) * 8e-9:.3f}".rstrip("0").rstrip(".")
        found.append((kind, rate if rate_of(rate) is not None else f"{gigabits}GbE"))
    return found


def words_by_kind(text: str, form: str) -> list[tuple[str, str]]:
    """Kinds of cables, each with what is said of it: ``hosts=WORD,switches=WORD,level3=WORD``.

    Args:
        text: what is to be read.
        form: what is expected, in words.

    Raises:
        UsageError: it is none.
    """
    found = []
    for part in text.split(","):
        kind, _, word = (each.strip() for each in part.partition("="))
        if kind not in ("hosts", "switches") and level_of(kind) is None:
            raise UsageError(f"expected {form}, got {part!r}")
        found.append((kind, word))
    return found


def checked_times(text: str) -> str:
    """The same words, of one time or of times by kind of cable.

    Raises:
        UsageError: they are none.
    """
    for _, word in times_by_kind(text) if "=" in text else [("", text)]:
        parse_seconds(word)
    return text


def times_by_kind(text: str) -> list[tuple[str, str]]:
    """Kinds of cables with times in words, of ``hosts=10ns,level3=5us``.

    Raises:
        UsageError: it is none.
    """
    return words_by_kind(text, "a time, or times such as hosts=10ns,switches=50ns,level3=5us")


def checked_rates(text: str) -> str:
    """The same words, of one rate or of rates by kind.

    Raises:
        UsageError: they are none.
    """
    if "=" in text:
        rates_by_kind(text)
    else:
        parse_rate(text)
    return text


def level_of(kind: str) -> int | None:
    """The level in ``level3``; None for other words."""
    match = re.fullmatch(r"level([1-9]\d{0,2})", kind)
    return int(match[1]) if match else None


def valued(given: Value | str | None, parse: Callable[[str], Value]) -> Value | None:
    """What an argument says that takes a number or words such as ``4xNDR``; None stays None."""
    return parse(given) if isinstance(given, str) else given


def parse_seconds(text: str) -> float:
    """Seconds of a time such as ``90``, ``20ns``, ``200ms``, ``90s``, ``5min`` or ``1.5h``.

    Raises:
        UsageError: it is none.
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"expected a time such as 90s, 5min or 1.5h, got {text!r}")
    return float(Fraction(match[1]) * _SECONDS[match[2]])


def parse_times(times: str | float | Sequence[float]) -> tuple[float, ...]:
    """Seconds as numbers, or as a list in words: ``0,20us``.

    Raises:
        UsageError: for what is no such list.
    """
    if isinstance(times, str):
        return tuple(parse_seconds(word) for word in times.split(","))
    return (times,) if isinstance(times, (int, float)) else tuple(times)


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a mistyped name: ``; did you mean 'bisect'?``, "" when none is near."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {str(close[0])!r}?" if close else ""


def format_seconds(seconds: float) -> str:
    """A time for people: ``1.5 µs``, ``40 s``, ``5 min``, ``2.5 h``."""
    for unit, size in (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3)):
        # As it is shown: just below a millisecond is 1 ms and not 1e+03 µs.
        value = float(f"{seconds / size:.3g}")
        # Two minutes are 120 s to most people, and one hour 60 min.
        if abs(value) >= (2 if size > 1 else 1):
            return f"{rounded(seconds / size)} {unit}"
    return f"{rounded(seconds * 1e6)} µs"


def round_half_up(value: Fraction) -> int:
    """The nearest integer, the upper one of two: 40.5 becomes 41 and 20.25 becomes 20."""
    return math.floor(value + Fraction(1, 2))


_RATE_UNITS = (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0))


def rate_unit(bytes_per_second: float) -> tuple[str, float]:
    """The unit that a rate is written in, and its bytes per second: ``("GB/s", 1e9)``."""
    # As it is shown: just below a gigabyte is 1 GB/s and not 1,000 MB/s.
    shown = abs(float(f"{bytes_per_second:.3g}"))
    return next((item for item in _RATE_UNITS if shown >= item[1]), _RATE_UNITS[-1])


def format_rate(bytes_per_second: float) -> str:
    """What communication gets, for people: ``24.1 GB/s``, ``11.9 MB/s``, units of 1000."""
    unit, size = rate_unit(bytes_per_second)
    return f"{rounded(bytes_per_second / size)} {unit}"


def format_link_speed(bytes_per_second: float) -> str:
    """The nominal speed of a cable or port, in bits as it is sold by: ``200 Gbit/s``."""
    bits = 8 * bytes_per_second
    for unit in ("bit/s", "kbit/s", "Mbit/s", "Gbit/s"):
        if abs(float(f"{bits:.4g}")) < 1000:
            return f"{rounded(bits, 4)} {unit}"
        bits /= 1000
    return f"{rounded(bits, 4)} Tbit/s"
