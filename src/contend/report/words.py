"""Words for numbers: sizes, times with their intervals, rates, shares, conditions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from contend.base.errors import printable_line
from contend.base.units import counted, format_bytes, format_rate, format_seconds, rounded, verb

if TYPE_CHECKING:
    from contend.cure import JobCost, PartsCost, ServersHit
    from contend.lab.runs import CellRecord, CellSummary, Condition, Estimate, Modes, RunRecord

UNKNOWN = "-"
_UNPRINTABLE = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\ud800-\\udfff\\ufffe\\uffff]")
_SIZE_LABELS = ("n", "m")
_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))


def printable(text: str) -> str:
    """Text without control characters, escape sequences and lone surrogates."""
    return _UNPRINTABLE.sub("\ufffd", text)


def first_clause(verdict: str) -> str:
    """How a verdict begins, as a title of a figure has it."""
    return re.split(r"[;.]\s|\.$", verdict, maxsplit=1)[0]


def percent(fraction: float | None, decimals: int = 1) -> str:
    """A fraction for people: ``44.8 %``; two digits of what would read as nothing: ``0.023 %``.

    A dash where it is not known.
    """
    if fraction is None:
        return UNKNOWN
    if 0 < abs(fraction) < 1e-5:
        return "< 0.001 %"
    if 0 < abs(fraction) < 0.5 * 10.0 ** -(decimals + 2):
        return f"{100 * fraction:.2g} %"
    return f"{100 * fraction:.{decimals}f} %"


def gets_words(pattern: str, *, infinitive: bool = False) -> str:
    """Whom a share is of, with its verb: ``random pairs get``, ``shift:3 gets``."""
    if pattern == "bisect":
        return "random pairs get"
    return f"{pattern} {'get' if infinitive else 'gets'}"


def of_words(*, waits_for_last: bool) -> str:
    """What shares are of, by whether hosts wait for the last message."""
    return "what ports allow" if waits_for_last else "a link's rate"


def percent_range(low: float, high: float, decimals: int = 1) -> str:
    """Two fractions for people, or one where they read alike: ``12.0 to 14.5 %``, ``139 %``."""
    if not math.isfinite(high - low):
        return "unbounded"
    first, last = (f"{100 * end:.{decimals}f}" for end in (low, high))
    return f"{last} %" if first == last else f"{first} to {last} %"


def size_words(size: int | None) -> str:
    """Bytes for people; a dash for cells that have no size."""
    return UNKNOWN if size is None else format_bytes(size)


def size_labels(cells: Iterable[CellRecord]) -> tuple[str, ...]:
    """Labels of cells that say their size in the probe's own terms: those of a sort."""
    present = {name for cell in cells for name in cell.labels}
    return tuple(name for name in _SIZE_LABELS if name in present)


def size_label(cell: CellRecord, name: str) -> str:
    """The value of such a label."""
    value = cell.labels.get(name)
    return f"{value:,}" if isinstance(value, int) else UNKNOWN


def rate_words(bytes_per_second: float | None) -> str:
    """A rate for a table: ``24.1 GB/s``, a dash for none."""
    return UNKNOWN if bytes_per_second is None else format_rate(bytes_per_second)


def share_words(bytes_per_second: float | None, limit: float | None) -> str:
    """A rate as a share of what the port carries; a dash where either is not known."""
    if bytes_per_second is None or limit is None:
        return UNKNOWN
    return percent(bytes_per_second / limit)


def interval_words(estimate: Estimate) -> str:
    """Both ends of an interval of seconds in one unit: ``1.02 to 1.09 ms``, and what they cover."""
    if estimate.low is None or estimate.high is None:
        return UNKNOWN
    unit, size = next(
        ((unit, size) for unit, size in _UNITS if abs(estimate.high) >= size), _UNITS[-1]
    )
    covered = _covered(estimate, " (", ")")
    return f"{rounded(estimate.low / size)} to {rounded(estimate.high / size)} {unit}{covered}"


def factor_words(factor: Estimate) -> str:
    """A factor with its interval: ``9.2 (8.7 to 10.1)``."""
    if factor.low is None or factor.high is None:
        return rounded(factor.value)
    low, high = rounded(factor.low), rounded(factor.high)
    return f"{rounded(factor.value)} ({low} to {high}{_covered(factor, ', ')})"


def _covered(estimate: Estimate, before: str, after: str = "") -> str:
    """What an interval covers where that is not 95 %."""
    if estimate.ci95 is not None:
        return ""
    return f"{before}{100 * estimate.promised:.3g} %{after}"


def modes_words(modes: Modes) -> str:
    """Both kinds of samples: ``two kinds: 32 % near 201 ms, the others near 1.2 ms``."""
    return f"two kinds: {modes}"


def apart_words(launches: Modes) -> str:
    """Both kinds of launches: ``two kinds of launches: 1 of 2 near 265 ms, others near 109 ms``."""
    return (
        f"two kinds of launches: {launches.slow} of {launches.count} near "
        f"{format_seconds(launches.slow_s)}, the others near {format_seconds(launches.fast_s)}"
    )


BEYOND_WIRE = "beyond the wire"
BEYOND_WIRE_NOTE = (
    "Beyond the wire: faster than the hosts' ports or the cables between switches, because so few "
    "bytes fit into buffers or pass at once in an emulated cable's burst."
)


def kinds_words(cell: CellSummary) -> list[str]:
    """What is to be told wherever the median of a cell of two kinds stands."""
    kinds = [] if cell.two_kinds is None else [modes_words(cell.two_kinds)]
    apart = cell.two_kinds_of_launches
    return kinds if apart is None else [*kinds, apart_words(apart)]


def condition_words(condition: Condition) -> str:
    """Ranks, hosts and labels: ``16 ranks on 4 hosts, counts even``."""
    where = f"{counted(condition.ranks, 'rank')} on {counted(condition.hosts, 'host')}"
    return ", ".join([where, *(f"{name} {value}" for name, value in condition.by_name)])


def shared_words(conditions: Iterable[Condition]) -> tuple[str, dict[Condition, str]]:
    """What conditions have in common, for a title, and what is left to be told of each."""
    told = {each: condition_words(each).split(", ") for each in conditions}
    shared = shared_phrases(list(told.values()))
    rest = {each: ", ".join(p for p in words if p not in shared) for each, words in told.items()}
    return "".join(f", {phrase}" for phrase in shared), rest


def shared_phrases(every: Sequence[Sequence[str]]) -> list[str]:
    """The phrases that all have, in the order of the first."""
    return [phrase for phrase in every[0] if all(phrase in told for told in every)] if every else []


def run_words(record: RunRecord) -> str:
    """What was measured under which library and which conditions that nobody sees."""
    labels = [f"{name}: {value}" for name, value in record.labels.items()]
    return ", ".join(filter(None, [record.probe, record.library.title, *labels]))


def cost_words(cost: JobCost) -> str:
    """What a job loses with parts of a network, after its name; "" where it loses nothing."""
    if cost.stops:
        return "stops"
    words = []
    if cost.lost:
        words.append(f"loses {cost.lost:,} of {counted(cost.servers, 'server')}")
    if cost.rails:
        words.append(f"has servers that lose rails ({hit_words(cost.rails)})")
    if cost.loss:
        now, then = percent(cost.after), percent(cost.before)
        words.append(f"gets {now} of its ports' rate instead of {then}")
    return " and ".join(words)


def costs_words(costs: Sequence[JobCost], most: int = 4) -> str:
    """What jobs lose, those that stop first: ``17 stops; 18 loses 2 of 16 servers``."""
    paying = sorted(
        (cost for cost in costs if cost.pays),
        key=lambda cost: (-cost.stops, -cost.lost, -len(cost.rails), -cost.loss),
    )
    named = [printable_line(f"job {cost.job} {cost_words(cost)}", 200) for cost in paying[:most]]
    if (more := len(paying) - most) > 0:
        named.append(f"{more:,} more jobs lose")
    return "; ".join(named)


def parts_words(cost: PartsCost) -> str:
    """What parts that are gone cost: hosts first, then what the others get."""
    hosts = f"{cost.left:,} of {counted(cost.hosts, 'host')} {verb(cost.left, 'stays')}"
    hit = f" ({hit_words(cost.servers)})" if cost.servers else ""
    of = of_words(waits_for_last=cost.waits_for_last)
    gets, shares = gets_words(cost.pattern), [percent(cost.after), percent(cost.before)]
    instead = f"instead of {shares[1]}" if shares[0] != shares[1] else "as with them"
    gone = printable_line(", ".join(cost.parts), 60)
    return f"without {gone}, {hosts}{hit}; among these {gets} {shares[0]} of {of} {instead}"


def hit_words(each: Sequence[ServersHit]) -> str:
    """Servers by what they lose: ``20 servers lose 1 of 8 rails``."""
    words = [
        f"{one.servers:,} {'server loses' if one.servers == 1 else 'servers lose'} "
        f"{one.lost if one.lost < one.rails else 'all'} of {one.rails} rails"
        for one in each
    ]
    return " and ".join(words)
