"""Better seats beside the order that was given."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np

from contend.congestion import SeatFigures
from contend.cure import BetterSeats, PatternShares
from contend.fabric import FabricSize, size_of
from contend.report.document import Document, filled
from contend.report.table import ResultTable
from contend.report.words import percent
from contend.units import counted, format_bytes, rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Below this share nothing is worth a launch with other seats.
_WORTH_WHILE = 0.005


def better_seats_verdict(better: BetterSeats) -> str:
    """What the seats are worth, and who takes none, in a few sentences."""
    return f"{_worth(better)}{better.left_out and f' {better.left_out}'}"


def _worth(better: BetterSeats) -> str:
    if better.shares:
        return f"{_by_shares(better)} {_default(better)}"
    time = f"{_busy(better, better.figures_before)} to {_busy(better, better.figures)}"
    before, after = better.figures_before, better.figures
    congestion = f"{rounded(before.mean_congestion)} to {rounded(after.mean_congestion)}"
    if better.saved >= _WORTH_WHILE:
        return (
            f"With this placement the most loaded channels need {100 * better.saved:.0f} % less "
            f"time than in the given order ({time}), and mean congestion goes from {congestion}."
        )
    if after.mean_congestion < (1 - _WORTH_WHILE) * before.mean_congestion:
        return (
            "No placement was found in which the most loaded channels need less time, but with "
            f"this one mean congestion goes from {congestion}."
        )
    return "No placement better than the given order was found."


def _by_shares(better: BetterSeats) -> str:
    """What rings and all-to-alls get in the new order, and got in the given one."""
    rings, all_to_alls = better.shares
    if better.saved >= _WORTH_WHILE:
        return (
            f"With this placement rings get {percent(rings.after)} of a port's rate and "
            f"all-to-alls {percent(all_to_alls.after)}, instead of {percent(rings.before)} and "
            f"{percent(all_to_alls.before)} in the given order."
        )
    return (
        "No placement was found that is better than the given order, in which rings get "
        f"{percent(rings.before)} of a port's rate and all-to-alls {percent(all_to_alls.before)}."
    )


def _default(better: BetterSeats) -> str:
    return (
        f"{better.rails} rails: rings and all-to-alls within each rail, as GPU libraries send "
        "them; give a profile or a pattern for other traffic."
    )


def better_seats_table(better: BetterSeats) -> ResultTable:
    """Both orders by each figure."""
    before, after = better.figures_before, better.figures
    shares = tuple(
        (
            f"{share.name}, share of a port's rate",
            percent(share.before),
            percent(share.after),
            _change(share.before, share.after),
        )
        for share in better.shares
    )
    rows = (
        *shares,
        (
            "time of the most loaded channels",
            _busy(better, before),
            _busy(better, after),
            _change(before.busy, after.busy),
        ),
        (
            "mean congestion",
            f"{before.mean_congestion:.2f}",
            f"{after.mean_congestion:.2f}",
            _change(before.mean_congestion, after.mean_congestion),
        ),
        (
            "bytes times channels",
            format_bytes(before.hop_bytes),
            format_bytes(after.hop_bytes),
            _change(before.hop_bytes, after.hop_bytes),
        ),
    )
    traffic, seats = better.sent.traffic, better.placement.hosts
    used = len(np.unique(seats))
    note = (
        f"{counted(traffic.ranks, 'rank')} on {used:,} of {counted(better.hosts, 'host')}, "
        f"{counted(better.moved, 'rank')} moved; {counted(traffic.phases, 'phase')}; "
        f"{better.seconds:.1f} s"
    )
    remarks = better.sent.remarks
    if better.rails:
        remarks += (f"whole servers move, with the {better.rails} ranks of their adapters",)
    return ResultTable(
        title=f"Placement of {better.sent.name} on {better.fabric.name}",
        columns=("what", "given", "new", ""),
        rows=rows,
        numeric=frozenset({"given", "new"}),
        note="; ".join((note, *remarks)),
    )


def _busy(better: BetterSeats, figures: SeatFigures) -> str:
    if better.unit == "bytes":
        return format_bytes(figures.busy)
    seconds = figures.busy
    return f"{rounded(seconds, 4)} s" if seconds >= 1 else f"{rounded(1e3 * seconds, 4)} ms"


def _change(before: float, after: float) -> str:
    return f"{100 * (after / before - 1):+.1f} %" if before > 0 else ""


def better_seats_document(better: BetterSeats, file: str = "", form: str = "") -> Document:
    """What the seats are worth, and where they are."""
    sent = better.sent
    return Document(
        tables=[better_seats_table(better)],
        record=filled(
            BetterSeatsJson,
            better,
            fabric=size_of(better.fabric),
            source=sent.name,
            verdict=better_seats_verdict(better),
            ranks=sent.traffic.ranks,
            phases=sent.traffic.phases,
            hosts_available=better.hosts,
            hosts=[better.fabric.host_name[host] for host in better.placement.hosts],
            before=better.figures_before,
            after=better.figures,
            remarks=sent.remarks,
            file=file,
        ),
        pictures={
            name: partial(_figure, name, better) for name in ("network", "channels", "seats")
        },
        closing=(f"written to {file} as {form}",) if file else (),
    )


def _figure(name: str, better: BetterSeats) -> Figure:
    # Here: most placements are written and not drawn.
    from contend.report.cure.seats_drawn import DRAWS, LoadedSeats

    return DRAWS[name](LoadedSeats(better))


class BetterSeatsJson(msgspec.Struct, frozen=True, kw_only=True):
    """A better placement."""

    fabric: Annotated[FabricSize, "where they are."]
    source: Annotated[str, "whose ranks: a profile, a matrix or a pattern."]
    verdict: Annotated[str, "one-sentence verdict."]
    ranks: Annotated[int, "number of ranks."]
    phases: Annotated[int, "of their traffic."]
    hosts_available: Annotated[int, "how many hosts could be taken."]
    hosts: Annotated[list[str], "name of every rank's host."]
    unit: Annotated[str, "of `busy`: ``s``, or ``bytes`` where rates are not known."]
    before: Annotated[SeatFigures, "the order that was given."]
    after: Annotated[SeatFigures, "the new placement."]
    moved: Annotated[int, "ranks on another host than in the given order."]
    rails: Annotated[int, "of each server, where ranks are seated by whole servers; else 0."]
    shares: Annotated[
        list[PatternShares],
        "of rings and all-to-alls within rails, where no other traffic was asked for.",
    ]
    remarks: Annotated[list[str], "what a reader must know."]
    seconds: Annotated[float, "that the search took."]
    file: Annotated[str, 'where it was written; "" where it was not.']
