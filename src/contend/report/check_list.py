"""The checks of a fabric as a list for the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from contend.fabric import Check, Status
from contend.routes import CheckReport
from contend.units import counted

_STYLE = {Status.OK: "green", Status.WARNING: "yellow", Status.WRONG: "bold red"}


def print_checks(console: Console, report: CheckReport) -> None:
    """Prints every check with its verdict; what is not in order with its places and its remedy."""
    size = report.fabric
    sizes = ((size.hosts, "host"), (size.switches, "switch"), (size.channels, "channel"))
    head = f"{size.name}: {', '.join(counted(number, thing) for number, thing in sizes)}"
    console.print(Text(head, style="bold"))
    width = max(len(item.name) for item in report.checks)
    for item in report.checks:
        _print_check(console, item, width)
    console.print(Text(_verdict(report), style="bold"))


def _print_check(console: Console, item: Check, width: int) -> None:
    line = Table.grid(padding=(0, 2))
    line.add_column(width=len(Status.WARNING))
    line.add_column(width=width)
    line.add_column()
    style = _STYLE[item.status]
    line.add_row(Text(item.status.value, style=style), Text(item.name), Text(item.summary))
    console.print(line)
    for detail in item.details:
        _print_indented(console, Text(f"- {detail}"))
    if item.remedy:
        _print_indented(console, Text(f"=> {item.remedy}", style=style))


def _print_indented(console: Console, text: Text) -> None:
    """Long names wrap under themselves on a terminal; none is broken."""
    indent = len(Status.WARNING) + 2
    console.print(Padding(text, (0, 0, 0, indent), expand=False))


def _verdict(report: CheckReport) -> str:
    wrong = sum(item.status == Status.WRONG for item in report.checks)
    warnings = sum(item.status == Status.WARNING for item in report.checks)
    said = counted(warnings, "warning")
    return f"{wrong} of {len(report.checks)} checks wrong, {said}" if wrong else f"sound, {said}"
