"""What a drawing points out: hot channels, faulty cables and switches, with their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contend.congestion import hottest
from contend.fabric import TOPOLOGY_FAULTS, Fabric, missing_cables, slow_links
from contend.report.fabric.drawn import ChannelLoad, Drawn
from contend.report.fabric.scene import SMALL, WIDTH, spoken_names, text_size
from contend.report.words import printable
from contend.units import rounded

HOT, FAULT = "hot", "fault"
_MOST_HOT = 3
_MOST_MARKS = 12  # with a name
# Even heats have no hottest channel: only what needs so many times the mean is one.
_HOT = 1.2
_QUOTED = re.compile(r'switch "([^"]+)"')


@dataclass(frozen=True)
class Mark:
    """Something that a drawing points out.

    Attributes:
        kind: ``hot``, ``fault``, or a word of the caller's.
        part: ``cable`` or ``switch``.
        number: of the cable or switch.
        words: what it is and why, in one line.
    """

    kind: str
    part: str
    number: int
    words: str


def hot_channels(fabric: Fabric, load: ChannelLoad) -> list[Mark]:
    """The hottest channels between switches, one of a pair of switches."""
    mean = float(load.heat.mean()) if len(load.heat) else 0.0
    names = spoken_names(fabric)
    marks: list[Mark] = []
    pairs: set[tuple[int, int]] = set()
    for channel in hottest(load.heat, len(load.heat)):
        if len(marks) == _MOST_HOT or load.heat[channel] <= _HOT * mean:
            break
        cable = channel // 2
        ends = (int(fabric.cable_from[cable]), int(fabric.cable_to[cable]))
        if ends in pairs:
            continue
        pairs |= {ends, ends[::-1]}
        ports = int(fabric.cable_from_port[cable]), int(fabric.cable_to_port[cable])
        near, far = (f"{names[end]} port {port}" for end, port in zip(ends, ports, strict=True))
        way = f"{near} → {far}" if channel % 2 == 0 else f"{far} → {near}"
        carried = f"{rounded(load.load[channel])} {load.unit}"
        if load.heat[channel] != load.load[channel]:
            rate = fabric.channel_rate(channel) or "an unknown rate"
            carried += f" at {rate}, as long as {rounded(load.heat[channel])} at {load.port}"
        marks.append(Mark(HOT, "cable", cable, f"{carried}: {way}"))
    return marks


def faults(fabric: Fabric) -> list[Mark]:
    """Slow links, cables from a switch to itself, and what reading the fabric found wrong."""
    marks = []
    slow = slow_links(fabric)
    for words, channel in zip(slow.faults, slow.channels, strict=True):
        if channel < 2 * fabric.cables:
            marks.append(Mark(FAULT, "cable", channel // 2, words))
        else:
            host = (channel - 2 * fabric.cables) % fabric.hosts
            marks.append(Mark(FAULT, "switch", int(fabric.host_switch[host]), words))
    for cable in np.flatnonzero(fabric.cable_from == fabric.cable_to).tolist():
        words = f"{fabric.channel_name(2 * cable)}: leads back to its switch"
        marks.append(Mark(FAULT, "switch", int(fabric.cable_from[cable]), words))
    labels = {label: switch for switch, label in enumerate(fabric.switch_label)}
    for finding in fabric.findings:
        if finding.wrong and finding.kind in TOPOLOGY_FAULTS:
            known = [labels[name] for name in _QUOTED.findall(finding.message) if name in labels]
            if known:
                marks.append(Mark(FAULT, "switch", known[0], finding.message))
    return marks


@dataclass(frozen=True, eq=False)
class Marked:
    """Marks with what is written in them, and the lines below the drawing that explain them."""

    marks: tuple[tuple[str, Mark], ...]
    lines: tuple[str, ...]
    words: dict[tuple[str, int], list[str]]


def numbered_marks(drawn: Drawn, others: Sequence[Mark]) -> Marked:
    """Hot channels by numbers, faults and others by letters, those beyond only marked."""
    fabric = drawn.fabric
    numbers = {"switch": np.cumsum(drawn.kept) - 1, "cable": np.cumsum(drawn.cables) - 1}
    there = {"switch": drawn.kept, "cable": drawn.cables}
    wanted = [] if drawn.load is None else hot_channels(fabric, drawn.load)
    wanted += faults(fabric)
    wanted += [
        Mark(mark.kind, mark.part, int(numbers[mark.part][mark.number]), mark.words)
        for mark in others
        if there[mark.part][mark.number]
    ]
    if drawn.load is None:
        # Last, as there may be many; a drawing of loads has other things to show.
        wanted += [
            Mark(FAULT, "switch", pair.switches[0], pair.words(fabric))
            for pair in missing_cables(fabric)
        ]
    words: dict[tuple[str, int], list[str]] = {}
    marks, lines, counts = [], [], {HOT: 0, "other": 0}
    for mark in wanted:
        words.setdefault((mark.part, mark.number), []).append(mark.words)
        series = HOT if mark.kind == HOT else "other"
        if (rank := counts[series]) >= _MOST_MARKS:
            continue
        counts[series] += 1
        sign = str(rank + 1) if series == HOT else chr(ord("A") + rank)
        marks.append((sign, mark))
        lines.append(_fitted(f"{sign}  {mark.kind}: {mark.words}", WIDTH - 0.2))
    if len(wanted) > len(marks):
        lines.append(f"{len(wanted) - len(marks):,} more are marked without a name")
        marks += [("", mark) for mark in wanted[len(marks) :]]
    return Marked(tuple(marks), tuple(lines), words)


def _fitted(text: str, room: float) -> str:
    """A line cut in its middle where it is longer than the page."""
    text = printable(text).replace("\n", " ")
    for most in range(len(text), 20, -4):
        short = text if most == len(text) else f"{text[: most // 2]} … {text[-(most // 2) :]}"
        if text_size(short, SMALL)[0] <= room:
            return short
    return text[:20]
