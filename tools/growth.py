"""How time and memory of a simulation grow with its network: measured, drawn, with formulas.

    python tools/growth.py FIGURE.svg [--most HOSTS] [--stored HOSTS]

Fat trees of three levels of switches with P ports have P^3/4 hosts. Each is loaded and 100 patterns
of random pairs are counted by a command of its own, on all cores: by routes that are computed, and,
up to --stored hosts, by tables. Of two launches the faster one counts. Prints what it measures as
Markdown, as it is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray

from contend.report.save import save_figure
from contend.report.style import COLOURS, COLUMN_WIDTH, new_figure, styled

_PORTS = (16, 20, 26, 32, 40, 50, 64, 80, 100, 126, 160)
_SAMPLES = 100
_TICKS = {"seconds": (1, 2, 5, 10, 20), "peak memory, MB": (50, 100, 200, 500, 1000)}
_COMMAND = (sys.executable, "-c", "from contend.cli import main; main()", "simulate")


@dataclass(frozen=True)
class _Kind:
    name: str
    engine: str
    colour: str


_KINDS = (_Kind("computed routes", "dmodk", COLOURS[0]), _Kind("tables", "dor", COLOURS[1]))


@dataclass(frozen=True)
class _Run:
    """One command: hosts of the network, seconds, those of counting over cores, peak memory."""

    hosts: int
    seconds: float
    counting: float
    megabytes: float


def measure(ports: int, engine: str) -> _Run:
    """Runs the command once."""
    with TemporaryDirectory() as folder:
        told = Path(folder) / "told.json"
        words = ("--route", engine, "--samples", str(_SAMPLES), "--json", str(told))
        begin = perf_counter()
        command = [*_COMMAND, f"fattree3:{ports}", *words]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        seconds = perf_counter() - begin
        if status:
            sys.exit(f"fattree3:{ports} by {engine}: status {os.waitstatus_to_exitcode(status)}")
        found = json.loads(told.read_text())
    counting = found["counting_s"] + found["drawing_s"]
    return _Run(ports**3 // 4, seconds, counting, 1024 * used.ru_maxrss / 1e6)


def switches(hosts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of a tree with so many hosts: 5/4 of the square of its switches' ports."""
    return 1.25 * np.cbrt(4 * hosts) ** 2


def table_bytes(hosts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two bytes for each address, of hosts and of switches, in every switch."""
    return 2 * switches(hosts) * (hosts + switches(hosts))


def fitted(terms: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Factors of terms, none below 0, that leave the least relative error."""
    from scipy.optimize import nnls

    factors: NDArray[np.float64] = nnls(terms / values[:, None], np.ones(len(values)))[0]
    return factors


def terms(kind: _Kind, hosts: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the formula adds up: something constant, hosts, and bytes of tables."""
    columns = [np.ones_like(hosts), hosts / 1e6]
    if kind.engine != "dmodk":
        columns.append(table_bytes(hosts) / 1e9)
    return np.stack(columns, axis=1)


def draw(found: dict[_Kind, list[_Run]], path: Path) -> None:
    """Seconds and memory over hosts: marks are measured, lines the formula, which is printed."""
    with styled():
        figure = new_figure(2.7, 2 * COLUMN_WIDTH)
        panels = figure.subplots(1, 2)
        for kind, runs in found.items():
            hosts = np.array([run.hosts for run in runs], dtype=float)
            line = np.geomspace(hosts.min(), hosts.max(), 100)
            for axes, name in zip(panels, ("seconds", "megabytes"), strict=True):
                values = np.array([getattr(run, name) for run in runs])
                factors = fitted(terms(kind, hosts), values)
                axes.plot(hosts, values, "o", markersize=3.5, color=kind.colour)
                axes.plot(line, terms(kind, line) @ factors, color=kind.colour, label=kind.name)
                of = ("", " for each million hosts", " for each GB of tables")
                words = [f"{factor:,.3g}{what}" for factor, what in zip(factors, of, strict=False)]
                print(f"{kind.name}: {name} = {' + '.join(words)}")
        for axes, label in zip(panels, ("seconds", "peak memory, MB"), strict=True):
            axes.set(xscale="log", yscale="log", xlabel="hosts", ylabel=label)
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter("{x:,.0f}")
                axis.set_minor_formatter(NullFormatter())
            axes.set_yticks(_TICKS[label])
        panels[0].legend(loc="upper left", bbox_to_anchor=(0, 0.95))
        save_figure(figure, path)


def main() -> None:
    """Measures, prints and draws."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figure", type=Path)
    parser.add_argument("--most", type=int, default=1_024_000)
    parser.add_argument("--stored", type=int, default=65_536)
    asked = parser.parse_args()
    found: dict[_Kind, list[_Run]] = {}
    print("| routes | hosts | switches | seconds | counting, core seconds | peak memory, MB |")
    print("|---|---|---|---|---|---|")
    for kind in _KINDS:
        most = asked.most if kind.engine == "dmodk" else asked.stored
        found[kind] = []
        for ports in _PORTS:
            if ports**3 // 4 <= most:
                launches = (measure(ports, kind.engine) for _ in range(2))
                run = min(launches, key=lambda launch: launch.seconds)
                found[kind].append(run)
                print(
                    f"| {kind.name} | {run.hosts:,} | {5 * ports**2 // 4:,} | {run.seconds:.2f} "
                    f"| {run.counting:.2f} | {run.megabytes:,.0f} |",
                    flush=True,
                )
    draw(found, asked.figure)


if __name__ == "__main__":
    main()
