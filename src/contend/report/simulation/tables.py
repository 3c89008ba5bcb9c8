"""A simulation in words and tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from contend.congestion import Average, SampleMean, Simulation, hottest
from contend.fabric import Bisection, Fabric, capacities, is_generator
from contend.report.table import ResultTable
from contend.report.words import UNKNOWN, percent, percent_range, printable, rate_words
from contend.units import counted, rate_of, verb

_HOTTEST = 8


AXIS_WORDS = {
    Average.EFFECTIVE_BANDWIDTH: "mean of 1/π",
    Average.OF_MEAN_CONGESTION: "1 / mean π",
    Average.OF_MAX_CONGESTION: "1 / mean of the rounds' largest π",
}
"""What an average is called on an axis."""


def labels(simulations: Sequence[Simulation]) -> list[str]:
    """What tells simulations apart, in as few words as will do."""
    first = (
        [s.fabric_name for s in simulations],
        engine_labels([s.engine for s in simulations]),
        [s.pattern for s in simulations],
    )
    further = ([s.placement for s in simulations], [counted(s.ranks, "rank") for s in simulations])
    # Alone, or all alike: the fabric and its engine say most.
    telling = [column for column in first if len(set(column)) > 1] or list(first[:2])
    for column in further:
        if len(set(zip(*telling, strict=True))) == len(simulations):
            break
        if len(set(column)) > 1:
            telling.append(column)
    # Routes that came with a generator have its name, which need not be said twice.
    return [
        printable(", ".join(dict.fromkeys(filter(None, words))))
        for words in zip(*telling, strict=True)
    ]


def engine_labels(engines: Sequence[str]) -> list[str]:
    """Engines without the word opensm, where nothing else would become the same."""
    short = [engine.removeprefix("opensm:") for engine in engines]
    clash = len(set(short)) < len(set(engines))
    return list(engines) if clash else short


def scaled_by(simulations: Sequence[Simulation]) -> str:
    """What bandwidths have been multiplied by, for an axis: ``, times 6`` or nothing."""
    scales = {s.scale for s in simulations} - {1.0}
    return f", times {scales.pop():g}" if len(scales) == 1 else ", scaled" if scales else ""


def headline_name(pattern: str) -> str:
    """What the effective bandwidth of a pattern is called."""
    return "effective bisection bandwidth" if _is_bisect(pattern) else "effective bandwidth"


def _is_bisect(pattern: str) -> bool:
    return pattern.split(":")[0] == "bisect"


_BAR = 40
_MOST_ROWS = 20
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def simulation_verdict(simulation: Simulation) -> str:
    """What messages get, in a sentence."""
    who = "Random pairs get" if _is_bisect(simulation.pattern) else f"{simulation.pattern} gets"
    link = "a port's" if simulation.weighed else "a link's"
    rate = simulation.effective_rate
    carried = "" if rate is None else f" ({rate_words(rate)})"
    return (
        f"{who} {percent(simulation.effective_bandwidth)} of {link} rate{carried} on "
        f"{simulation.fabric_name} ({_interval(simulation)}).{_slower_words(simulation)}"
        f"{_ways(simulation)}"
        f"{simulation.left_out and f' {simulation.left_out}'}"
    )


def _slower_words(simulation: Simulation) -> str:
    """What pairs that exchange both ways get, in a sentence."""
    slower = simulation.slower_direction
    if slower is None:
        return ""
    return (
        f" The slower direction of a pair gets {percent(slower.mean)} on average "
        f"({_interval(simulation, slower)})."
    )


def _ways(simulation: Simulation) -> str:
    """What is to be known of routes that no engine's tables give, in a sentence."""
    if not simulation.engine:
        return " Its routes were read from a file."
    routes = None if simulation.fabric is None else simulation.fabric.routes
    if routes is None:
        return ""
    said = ["are drawn anew for every sample"] if routes.drawn else []
    if routes.together and not routes.everywhere:
        found = simulation.effective_bandwidth
        said.append(
            "split every message in the way that is best for all: no adaptive switch can do better"
            if simulation.gap == 1
            else "split every message nearly in the way that is best for all: ideal switches get "
            f"at least {percent(found)}, at most {percent(min(found * simulation.gap, 1))}"
        )
    elif routes.several:
        said.append("send every message over several paths at once")
    return f" Routes by {routes.engine} {' and '.join(said)}." if said else ""


def simulation_tables(
    simulation: Simulation, fabric: Fabric, rated: Bisection | None = None
) -> tuple[ResultTable, ...]:
    """The headline figures, the distribution of π, the hottest channels; links if they differ."""
    differing = (links_table(simulation),) if len(simulation.links) > 1 else ()
    return (
        headline(simulation, rated),
        *differing,
        congestion_table(simulation),
        hottest_table(simulation, fabric),
    )


def headline(simulation: Simulation, rated: Bisection | None = None) -> ResultTable:
    """Effective bandwidth with its interval, its other averages, and what is rated beside it."""
    delay = "slowdown" if simulation.weighed else "π"
    rows = [
        (
            headline_name(simulation.pattern),
            percent(simulation.effective_bandwidth),
            rate_words(simulation.rate(Average.EFFECTIVE_BANDWIDTH)),
            _interval(simulation),
        ),
        (
            f"1 / mean {delay}",
            percent(simulation.of_mean_congestion),
            rate_words(simulation.rate(Average.OF_MEAN_CONGESTION)),
            "no waiting between rounds",
        ),
        (
            f"1 / mean of the rounds' largest {delay}",
            percent(simulation.of_max_congestion),
            rate_words(simulation.rate(Average.OF_MAX_CONGESTION)),
            "every round waits for its slowest message",
        ),
    ]
    slower = simulation.slower_direction
    if slower is not None:
        name = "pairs that exchange both ways, slower direction"
        rate = rate_words(simulation.slower_direction_rate)
        rows.insert(1, (name, percent(slower.mean), rate, _interval(simulation, slower)))
    if simulation.scale != 1:
        rows.insert(1, _scaled(simulation))
    if rated is not None:
        port = _mean_port(simulation)

        def carried(share: float) -> str:
            return rate_words(None if port is None else share * port)

        cut = "the narrowest cut" if rated.exact else "at most: the narrowest cut found"
        meaning = f"{cut} between halves of {counted(rated.hosts, 'host')}"
        rows.append(
            ("rated bisection bandwidth", percent(rated.share), carried(rated.share), meaning)
        )
        if simulation.pattern == "bisect":
            meaning = "an upper bound for random pairs, whatever the routes"
            bound = rated.random_pairs
            rows.append(("bound by cuts", percent(bound), carried(bound), meaning))
    most = "messages on the fullest channel of a route"
    rows += [
        ("mean π", f"{simulation.mean_mean:.2f}", "", most),
        ("mean of the rounds' largest π", f"{simulation.mean_max:.2f}", "", ""),
    ]
    return ResultTable(
        title=_title(simulation),
        columns=("", "of port speed" if simulation.weighed else "of link speed", "rate", ""),
        rows=tuple(rows),
        numeric=frozenset({"of link speed", "of port speed", "rate"}),
        note=_conditions(simulation),
    )


def _mean_port(simulation: Simulation) -> float | None:
    """Bytes per second of a port of the hosts that take part, on average; None: not known."""
    fabric, hosts = simulation.fabric, simulation.taking_part
    if not simulation.weighed or fabric is None or hosts is None:
        return simulation.port_rate
    return float(capacities(fabric, hosts).host[np.unique(hosts)].mean())


def links_table(simulation: Simulation) -> ResultTable:
    """How many links carry what, and what that means for the figures."""
    if simulation.weighed:
        note = "A message gets the least of rate over load. --equal-rates counts all links alike."
    elif unknown_links(simulation):
        note = (
            "Some rates are unknown, so bandwidths count all links alike: messages over slower "
            "links get less than that."
        )
    else:
        note = "All links count alike here, whatever they carry."
    return ResultTable(
        title="Links have different rates",
        columns=("link", "rate", "links"),
        rows=tuple(
            (label or "not known", rate_words(rate_of(label)), f"{links:,}")
            for label, links in simulation.links.items()
        ),
        numeric=frozenset({"rate", "links"}),
        note=note,
    )


def _interval(simulation: Simulation, figure: SampleMean | None = None) -> str:
    """That of a figure; None is the effective bandwidth."""
    if simulation.exhaustive:
        return "exact: every possible outcome was counted"
    figure = figure or simulation.averaged(Average.EFFECTIVE_BANDWIDTH)
    if figure.low is None or figure.high is None:
        return "a single sample has no interval"
    return f"95 % interval {percent_range(figure.low, figure.high, 2)}"


def _scaled(simulation: Simulation) -> tuple[str, str, str, str]:
    scale = simulation.scale
    delay = "slowdown" if simulation.weighed else "π"
    of_mean = percent(scale * simulation.of_mean_congestion)
    also = f"leaves out the pattern's own end points; 1 / mean {delay}: {of_mean}"
    rate = simulation.effective_rate
    of_host = rate_words(None if rate is None else scale * rate)
    share = percent(scale * simulation.effective_bandwidth)
    return f"times {scale:g}, what a host gets", share, of_host, also


def _conditions(simulation: Simulation) -> str:
    samples = counted(simulation.samples, "sample")
    rounds = counted(simulation.rounds, "round")
    ranks = counted(simulation.ranks, "rank")
    how = f"{samples} of {rounds}, {ranks}, seed {simulation.seed}, {simulation.elapsed_s:.2f} s"
    return f"{how}{_link_words(simulation)}"


def _link_words(simulation: Simulation) -> str:
    """What all links carry, where they carry the same."""
    if simulation.port_rate is None or len(simulation.links) > 1:
        return ""
    carried = f"{rate_words(simulation.port_rate)} each way"
    if not simulation.links:
        return f"; links of {carried}"
    [label] = simulation.links
    assumed = ", assumed" if is_generator(simulation.fabric_name) else ""
    return f"; links of {label}{assumed}: {carried}"


def congestion_table(simulation: Simulation) -> ResultTable:
    """Share of messages by π, with bars; many values are joined to ranges of equal width."""
    ranges = _ranges(whole_congestion_shares(simulation))
    largest = max((share for _, _, share in ranges), default=1)
    return ResultTable(
        title="Messages by congestion",
        columns=("π", "1/π" if simulation.weighed else "bandwidth", "messages", " "),
        rows=tuple(
            (
                str(first) if first == last else f"{first} to {last}",
                _bandwidth(first) if first == last else f"{_bandwidth(last)} or more",
                percent(share),
                _bar(share / largest),
            )
            for first, last, share in ranges
        ),
        numeric=frozenset({"π", "1/π", "bandwidth", "messages"}),
        note="" if simulation.bins_of_message == 1 else "messages take several paths; π is rounded",
    )


def _ranges(shares: dict[int, float]) -> list[tuple[int, int, float]]:
    """First and last π and share of messages of at most about `_MOST_ROWS` ranges."""
    if len(shares) <= _MOST_ROWS:
        return [(pi, pi, share) for pi, share in shares.items()]
    width = -(-max(shares) // _MOST_ROWS)
    joined: dict[int, float] = {}
    for pi, share in shares.items():
        # Messages within a host, π = 0, stay a row of their own.
        first = pi if pi == 0 else (pi - 1) // width * width + 1
        joined[first] = joined.get(first, 0.0) + share
    return [(first, first + width - 1 if first else 0, share) for first, share in joined.items()]


def hottest_table(simulation: Simulation, fabric: Fabric) -> ResultTable:
    """The channels that need most time, by name; with their rates where links differ."""
    loads, heats = simulation.channel_load, simulation.channel_heat
    chosen = hottest(heats, _HOTTEST)
    carried = ("messages per round",)
    rows = [(f"{loads[channel]:.2f}", fabric.channel_name(channel)) for channel in chosen]
    if not simulation.heat_unit:
        return ResultTable(
            title="Hottest channels",
            columns=(*carried, "channel"),
            rows=tuple(rows),
            numeric=frozenset(carried),
        )
    numeric = ("heat", *carried)
    return ResultTable(
        title="Hottest channels",
        columns=(*numeric, "rate", "channel"),
        rows=tuple(
            (f"{heats[channel]:,.2f}", load, fabric.channel_rate(channel) or UNKNOWN, name)
            for channel, (load, name) in zip(chosen, rows, strict=True)
        ),
        numeric=frozenset(numeric),
        note=f"{heat_words(simulation)}.",
    )


def heat_words(simulation: Simulation) -> str:
    """What heat is where links differ in rate, and what unknown rates were taken for."""
    words = (
        "Heat is load over rate: the time that a channel needs for its messages, in messages over "
        f"a port of {simulation.heat_unit}"
    )
    if not simulation.assumed_rates:
        return words
    unknown, taken = unknown_links(simulation), " or ".join(simulation.assumed_rates)
    count = f"{counted(unknown, 'link')} of unknown rate {verb(unknown, 'counts')}"
    return f"{words}. {count} as {taken}, the rate of most links of the same kind"


def unknown_links(simulation: Simulation) -> int:
    """How many links have a rate that is not known."""
    return sum(links for label, links in simulation.links.items() if rate_of(label) is None)


def congestion_shares(simulation: Simulation) -> dict[float, float]:
    """Fraction of messages for every π that occurs, ascending; 0 is those within a host.

    π is whole where every message takes one way, and told as an integer then.
    """
    total, bins = int(simulation.histogram.sum()), simulation.bins_of_message
    return {
        int(number) if bins == 1 else int(number) / bins: int(simulation.histogram[number]) / total
        for number in np.flatnonzero(simulation.histogram)
    }


def whole_congestion_shares(simulation: Simulation) -> dict[int, float]:
    """The same by the nearest whole π."""
    whole: dict[int, float] = {}
    for pi, share in congestion_shares(simulation).items():
        whole[round(pi)] = whole.get(round(pi), 0.0) + share
    return whole


def _title(simulation: Simulation) -> str:
    fabric = simulation.fabric_name
    engine = f", routes by {simulation.engine}" if simulation.engine not in ("", fabric) else ""
    return f"{simulation.pattern} on {fabric}{engine}, {simulation.placement} placement"


def _bandwidth(pi: int) -> str:
    return percent(1 / pi) if pi else "same host"


def _bar(share: float) -> str:
    eighths = round(share * _BAR * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")
