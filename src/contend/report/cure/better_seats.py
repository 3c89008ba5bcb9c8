"""Better seats beside the order that was given."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from contend.base.units import counted, format_bytes, rounded
from contend.cure import BetterSeats
from contend.report.document import Document
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Below this share nothing is worth a launch with other seats.
_WORTH_WHILE = 0.005


def _verdict(better: BetterSeats) -> str:
    """What the seats are worth, and who takes none, in a few sentences."""
    return f"{_worth(better)}{better.left_out and f' {better.left_out}'}"


def _worth(better: BetterSeats) -> str:
    if better.shares:
        return f"{_by_shares(better)} {_default(better)}"
    before, after = better.before, better.after
    time = f"{_busy(better, before.busy)} to {_busy(better, after.busy)}"
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


def _table(better: BetterSeats) -> ResultTable:
    """Both orders by each figure."""
    before, after = better.before, better.after
    figures: list[tuple[str, Callable[[float], str], float, float]] = [
        (f"{share.name}, share of a port's rate", percent, share.before, share.after)
        for share in better.shares
    ]
    figures += [
        ("time of the most loaded channels", partial(_busy, better), before.busy, after.busy),
        ("mean congestion", "{:.2f}".format, before.mean_congestion, after.mean_congestion),
        ("bytes times channels", format_bytes, before.hop_bytes, after.hop_bytes),
    ]
    used = len(set(better.placement.hosts.tolist()))
    hosts = counted(better.hosts_available, "host")
    note = (
        f"{counted(better.ranks, 'rank')} on {used:,} of {hosts}, "
        f"{counted(better.moved, 'rank')} moved; {counted(better.phases, 'phase')}; "
        f"{better.seconds:.1f} s"
    )
    remarks = better.remarks
    if better.rails:
        remarks += (f"whole servers move, with the {better.rails} ranks of their adapters",)
    return table_of(
        f"Placement of {better.source} on {better.fabric.name}",
        figures,
        {
            "what": lambda figure: figure[0],
            "given": Number(lambda figure: figure[1](figure[2])),
            "new": Number(lambda figure: figure[1](figure[3])),
            "": lambda figure: _change(*figure[2:]),
        },
        note="; ".join((note, *remarks)),
    )


def _busy(better: BetterSeats, busy: float) -> str:
    if better.unit == "bytes":
        return format_bytes(busy)
    return f"{rounded(busy, 4)} s" if busy >= 1 else f"{rounded(1e3 * busy, 4)} ms"


def _change(before: float, after: float) -> str:
    return f"{100 * (after / before - 1):+.1f} %" if before > 0 else ""


def better_seats_document(better: BetterSeats, form: str = "") -> Document:
    """What the seats are worth, and where they are, in which form."""
    return Document(
        verdict=_verdict(better),
        tables=[_table(better)],
        record=better,
        pictures={
            name: partial(_figure, name, better) for name in ("network", "channels", "seats")
        },
        closing=(f"written to {better.file} as {form}",) if better.file else (),
    )


def _figure(name: str, better: BetterSeats) -> Figure:
    # Here: most placements are written and not drawn.
    from contend.report.cure.seats_drawn import DRAWS, LoadedSeats

    return DRAWS[name](LoadedSeats(better))
