"""A simulation in words and tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from contend.base.units import counted, verb
from contend.congestion import EACH_HOST, Average, Judged, LoadedChannel, Simulation
from contend.fabric import Fabric, capacities, is_generator
from contend.report.table import Columns, Number, ResultTable, table_of
from contend.report.words import UNKNOWN, percent, percent_range, printable, rate_words
from contend.routes import Ways

_HOTTEST = 8
_BAR = 40
_MOST_ROWS = 20
_EIGHTHS = " ▏▎▍▌▋▊▉█"

AXIS_WORDS: dict[Judged, str] = {
    Average.EFFECTIVE_BANDWIDTH: "mean of 1/π",
    Average.OF_MEAN_CONGESTION: "1 / mean π",
    Average.OF_MAX_CONGESTION: "1 / mean of the rounds' largest π",
    EACH_HOST: "each host, until the last message is done",
}
"""What an average is called on an axis."""


def labels(simulations: Sequence[Simulation]) -> list[str]:
    """What tells simulations apart, in as few words as will do."""
    first = (
        [s.fabric.name for s in simulations],
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


def judged_by(simulations: Sequence[Simulation], average: Judged | None) -> Judged:
    """The average asked for; None: what people wait for, where that is the same of all."""
    if average is not None:
        return average
    judged = {simulation.judged for simulation in simulations}
    return judged.pop() if len(judged) == 1 else Average.EFFECTIVE_BANDWIDTH


def scale_of(simulation: Simulation, average: Judged) -> float:
    """What an average of it is multiplied by, to leave out what the pattern does to its ends."""
    return 1.0 if average == EACH_HOST else simulation.scale


def of_what(average: Judged) -> str:
    """What an average is a share of."""
    return "what ports allow" if average == EACH_HOST else "the link speed"


def scaled_by(simulations: Sequence[Simulation], average: Judged | None = None) -> str:
    """What bandwidths have been multiplied by, for an axis: ``, times 6`` or nothing."""
    if average == EACH_HOST:
        return ""
    scales = {s.scale for s in simulations} - {1.0}
    return f", times {scales.pop():g}" if len(scales) == 1 else ", scaled" if scales else ""


def _is_bisect(simulation: Simulation) -> bool:
    return simulation.pattern.split(":")[0] == "bisect"


def simulation_verdict(simulation: Simulation) -> str:
    """What messages get, in a sentence."""
    found, slower = simulation.effective_bandwidth, simulation.slower_direction
    who = "Random pairs get" if _is_bisect(simulation) else f"{simulation.pattern} gets"
    link = "a port's" if simulation.weighed_by_rates else "a link's"
    carried = "" if found.mean_Bps is None else f" ({rate_words(found.mean_Bps)})"
    sentences = [
        f"{who} {percent(found.mean)} of {link} rate{carried} on {simulation.fabric.name} "
        f"({_interval(simulation, found.ci95)})."
    ]
    each = simulation.each_host
    if each is not None and simulation.judged == EACH_HOST:
        gets = percent(each.share)
        gets = f"{rate_words(each.rate_Bps)}, {gets}" if each.rate_Bps is not None else gets
        sentences = [
            f"{simulation.pattern} on {simulation.fabric.name}: each host gets {gets} of what its "
            "port allows, until the last message is done "
            f"({_interval(simulation, each.ci95)})."
        ]
    if slower is not None:
        sentences.append(
            f"The slower direction of a pair gets {percent(slower.mean)} on average "
            f"({_interval(simulation, slower.ci95)})."
        )
    return " ".join(filter(None, (*sentences, _ways(simulation), simulation.left_out)))


def _ways(simulation: Simulation) -> str:
    """What is to be known of routes that no engine's tables give, in a sentence."""
    if not simulation.engine:
        return "Its routes were read from a file."
    routes = simulation.fabric.routes if isinstance(simulation.fabric, Fabric) else None
    if routes is None:
        return ""
    said = ["are drawn anew for every sample"] if routes.drawn else []
    if routes.ways & Ways.SOLVED:
        found = simulation.effective_bandwidth
        said.append(
            "split every message in the way that is best for all: no adaptive switch that keeps to "
            "shortest paths can do better"
            if found.at_most is None
            else "split every message nearly in the way that is best for all: ideal switches get "
            f"at least {percent(found.mean)}, at most {percent(found.at_most)}"
        )
    elif routes.ways & Ways.SPLIT:
        said.append("send every message over several paths at once")
    return f"Routes by {routes.engine} {' and '.join(said)}." if said else ""


def simulation_tables(simulation: Simulation) -> tuple[ResultTable, ...]:
    """The headline figures, the distribution of π, the hottest channels; links if they differ."""
    differing = (_links_table(simulation),) if len(simulation.links) > 1 else ()
    return (
        headline(simulation),
        *differing,
        congestion_table(simulation),
        _hottest_table(simulation),
    )


def headline(simulation: Simulation) -> ResultTable:
    """Effective bandwidth with its interval, its other averages, and what is rated beside it."""
    found, slower = simulation.effective_bandwidth, simulation.slower_direction
    scale, rounds, rated = simulation.scale, simulation.rounds, simulation.bisection
    delay, speed = ("slowdown", "port") if simulation.weighed_by_rates else ("π", "link")
    rows = [
        (
            f"effective {'bisection ' if _is_bisect(simulation) else ''}bandwidth",
            percent(found.mean),
            rate_words(found.mean_Bps),
            _interval(simulation, found.ci95),
        ),
        (
            f"1 / mean {delay}",
            percent(found.of_mean_congestion),
            rate_words(found.of_mean_congestion_Bps),
            "no waiting between rounds",
        ),
        (
            f"1 / mean of the rounds' largest {delay}",
            percent(found.of_max_congestion),
            rate_words(found.of_max_congestion_Bps),
            "every round waits for its slowest message",
        ),
    ]
    if slower is not None:
        name = "pairs that exchange both ways, slower direction"
        interval = _interval(simulation, slower.ci95)
        rows.insert(1, (name, percent(slower.mean), rate_words(slower.mean_Bps), interval))
    each = simulation.each_host
    if each is not None and simulation.judged == EACH_HOST:
        # What a message gets says little there, and its further averages less.
        rows = [
            (
                "each host, until the last message is done",
                percent(each.share),
                rate_words(each.rate_Bps),
                _interval(simulation, each.ci95),
            ),
            ("a message, on average", *rows[0][1:]),
        ]
    if scale != 1:
        of_mean = percent(scale * found.of_mean_congestion)
        rows.append(
            (
                f"times {scale:g}, as if no host waited for its last message",
                percent(scale * found.mean),
                rate_words(None if found.mean_Bps is None else scale * found.mean_Bps),
                f"leaves out the pattern's own end points; 1 / mean {delay}: {of_mean}",
            ),
        )
    port = _mean_port(simulation)
    cut = "the narrowest cut" if rated.exact else "at most: the narrowest cut found"
    between = f"{cut} between halves of {counted(rated.hosts, 'host')}"
    bounds = [("rated bisection bandwidth", rated.share, between)]
    if simulation.pattern == "bisect":
        meaning = "an upper bound for random pairs, whatever the routes"
        bounds.append(("bound by cuts", rated.random_pairs, meaning))
    most = "messages on the fullest channel of a route"
    rows += [
        *(
            (name, percent(share), rate_words(None if port is None else share * port), meaning)
            for name, share, meaning in bounds
        ),
        ("mean π", f"{rounds.mean_mean:.2f}", "", most),
        ("mean of the rounds' largest π", f"{rounds.mean_max:.2f}", "", ""),
    ]
    routes = simulation.engine not in ("", simulation.fabric.name)
    engine = f", routes by {simulation.engine}" if routes else ""
    return ResultTable(
        title=f"{simulation.pattern} on {simulation.fabric.name}{engine}, "
        f"{simulation.placement} placement",
        columns=("", f"of {speed} speed", "rate", ""),
        rows=tuple(rows),
        numeric=frozenset({f"of {speed} speed", "rate"}),
        note=f"{counted(simulation.samples, 'sample')} of {counted(rounds.count, 'round')}, "
        f"{counted(simulation.ranks, 'rank')}, seed {simulation.seed}, "
        f"{simulation.elapsed_s:.2f} s{_link_words(simulation)}",
    )


def _mean_port(simulation: Simulation) -> float | None:
    """Bytes per second of a port of the hosts that take part, on average; None: not known."""
    if not simulation.weighed_by_rates:
        return simulation.port_rate
    hosts = np.unique(simulation.taking_part)
    return float(capacities(simulation.whole_fabric, hosts).host[hosts].mean())


def _links_table(simulation: Simulation) -> ResultTable:
    """How many links carry what, and what that means for the figures."""
    if simulation.weighed_by_rates:
        note = "A message gets the least of rate over load. --equal-rates counts all links alike."
    elif _unknown_links(simulation):
        note = (
            "Some rates are unknown, so bandwidths count all links alike: messages over slower "
            "links get less than that."
        )
    else:
        note = "All links count alike here, whatever they carry."
    return table_of(
        "Links have different rates",
        simulation.links,
        {
            "link": lambda links: links.rate or "not known",
            "rate": "rate_Bps",
            "links": "links",
        },
        note=note,
    )


def _interval(simulation: Simulation, ci95: tuple[float, float] | None) -> str:
    if simulation.exhaustive:
        return "exact: every possible outcome was counted"
    if ci95 is None:
        return "a single sample has no interval"
    return f"95 % interval {percent_range(*ci95, 2)}"


def _link_words(simulation: Simulation) -> str:
    """What all links carry, where they carry the same."""
    if simulation.port_rate is None or len(simulation.links) > 1:
        return ""
    carried = f"{rate_words(simulation.port_rate)} each way"
    if not simulation.links:
        return f"; links of {carried}"
    assumed = ", assumed" if is_generator(simulation.fabric.name) else ""
    return f"; links of {simulation.links[0].rate}{assumed}: {carried}"


def congestion_table(simulation: Simulation) -> ResultTable:
    """Share of messages by π, with bars; many values are joined to ranges of equal width."""
    ranges = _ranges(whole_congestion_shares(simulation))
    largest = max((share for _, _, share in ranges), default=1)

    def bandwidth(pi: int) -> str:
        return percent(1 / pi) if pi else "same host"

    return ResultTable(
        title="Messages by congestion",
        columns=("π", "1/π" if simulation.weighed_by_rates else "bandwidth", "messages", " "),
        rows=tuple(
            (
                str(first) if first == last else f"{first} to {last}",
                bandwidth(first) if first == last else f"{bandwidth(last)} or more",
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


def _hottest_table(simulation: Simulation) -> ResultTable:
    """The channels that need most time, by name; with their rates where links differ."""
    columns: Columns[LoadedChannel] = {
        "heat": Number(lambda channel: f"{channel.heat:,.2f}"),
        "messages per round": Number(lambda channel: f"{channel.messages_per_round:.2f}"),
        "rate": lambda channel: channel.rate or UNKNOWN,
        "channel": "name",
    }
    if not simulation.heat_unit:
        columns = {head: columns[head] for head in ("messages per round", "channel")}
    shown = simulation.hottest_channels[:_HOTTEST]
    return table_of("Hottest channels", shown, columns, note=_heat_words(simulation))


def _heat_words(simulation: Simulation) -> str:
    """What heat is where links differ in rate, and what unknown rates were taken for."""
    if not simulation.heat_unit:
        return ""
    words = (
        "Heat is load over rate: the time that a channel needs for its messages, in messages over "
        f"a port of {simulation.heat_unit}."
    )
    if not simulation.heat_assumes:
        return words
    unknown, taken = _unknown_links(simulation), " or ".join(simulation.heat_assumes)
    count = f"{counted(unknown, 'link')} of unknown rate {verb(unknown, 'counts')}"
    return f"{words} {count} as {taken}, the rate of most links of the same kind."


def _unknown_links(simulation: Simulation) -> int:
    """How many links have a rate that is not known."""
    return sum(links.links for links in simulation.links if links.rate_Bps is None)


def whole_congestion_shares(simulation: Simulation) -> dict[int, float]:
    """Fraction of messages by the nearest whole π, ascending; 0 is those within a host."""
    whole: dict[int, float] = {}
    for pi, share in simulation.congestion.histogram.items():
        whole[round(pi)] = whole.get(round(pi), 0.0) + share
    return whole


def _bar(share: float) -> str:
    eighths = round(share * _BAR * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")
