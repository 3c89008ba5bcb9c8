"""Words for what was measured: sizes, times with their intervals, conditions, two kinds."""

from __future__ import annotations

from collections.abc import Iterable

from contend.samples.modes import Modes
from contend.samples.record import RunRecord
from contend.samples.schedule import Condition
from contend.samples.statistics import Estimate
from contend.units import counted, format_bytes, format_seconds

UNKNOWN = "-"
_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))


def size_words(size: int | None) -> str:
    """Bytes for people; a dash for cells that have no size."""
    return UNKNOWN if size is None else format_bytes(size)


def rate_words(bytes_per_second: float) -> str:
    """A rate for people, in binary units: ``47 MiB/s``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(bytes_per_second) < 999.5:
            return f"{bytes_per_second:.3g} {unit}/s"
        bytes_per_second /= 1024
    return f"{bytes_per_second:.3g} TiB/s"


def interval_words(estimate: Estimate) -> str:
    """Both ends of an interval of seconds in one unit: ``1.02 to 1.09 ms``."""
    if estimate.low is None or estimate.high is None:
        return UNKNOWN
    unit, size = next(
        ((unit, size) for unit, size in _UNITS if abs(estimate.high) >= size), _UNITS[-1]
    )
    return f"{estimate.low / size:.3g} to {estimate.high / size:.3g} {unit}"


def factor_words(factor: Estimate) -> str:
    """A factor with its interval: ``9.2 (8.7 to 10.1)``."""
    if factor.low is None or factor.high is None:
        return f"{factor.value:.3g}"
    return f"{factor.value:.3g} ({factor.low:.3g} to {factor.high:.3g})"


def modes_words(modes: Modes) -> str:
    """Both kinds of samples: ``two kinds: 32 % near 201 ms, others near 1.2 ms``."""
    share = f"{100 * modes.slow_share:.0f} %"
    return (
        f"two kinds: {share} near {format_seconds(modes.slow_s)}, the others near "
        f"{format_seconds(modes.fast_s)}"
    )


def condition_words(condition: Condition, among: Iterable[Condition] = ()) -> str:
    """Ranks and hosts, and the labels in which the conditions of a run differ."""
    others = list(among)
    words = [counted(condition.ranks, "rank"), f"on {counted(condition.hosts, 'host')}"]
    differing = {
        name
        for name, value in condition.labels
        if any(dict(other.labels).get(name) != value for other in others)
    }
    told = [f"{name} {value}" for name, value in condition.labels if name in differing]
    return ", ".join([" ".join(words), *told])


def run_words(record: RunRecord) -> str:
    """What was measured under which library and which conditions that nobody sees."""
    library = f"{record.library.name} {record.library.version}".strip()
    labels = [f"{name}: {value}" for name, value in record.labels.items()]
    return ", ".join(filter(None, [record.probe, library, *labels]))
