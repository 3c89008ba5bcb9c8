"""Where ranks run: the options of every verb that starts some, and the place that they name."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from contend import report
from contend.base.errors import UsageError
from contend.cli.common import RoutedLoading
from contend.cli.options.option import Bytes, BytesPerSecond, Seconds
from contend.cli.options.shared import (
    BUFFER,
    ENGINES,
    HOST_QUEUE,
    LAUNCHER,
    LIBRARIES,
    MPI,
    ON,
    PLACEMENT,
    PLACEMENTS,
    RANKS,
    RANKS_PER_HOST,
    RATE,
    ROUTE,
    ROUTES,
    RTO_MIN,
    WHOLE,
)
from contend.lab import emulation, measurement
from contend.lab.emulation import Settings
from contend.traffic import placement

if TYPE_CHECKING:
    from contend.fabric import Fabric
    from contend.lab.emulation import EmulatedHosts
    from contend.lab.measurement import Place, Shape

EMULATED = "emulated:"
"""How --on names a fabric that is to be emulated."""

_PANEL: dict[str, Any] = {"rich_help_panel": "Where it runs"}
_USUAL = Settings()
_OF_CABLES = ("routes", "route", "rate", "buffer", "host_queue", "rto_min", "placement")


CommandArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="-- COMMAND...", help="Command that starts the program, such as mpirun -n 64 ./app."
    ),
]


@dataclass(frozen=True)
class CableOptions(RoutedLoading):
    """A fabric's routes and, where it is emulated, what its cables carry."""

    routes: Annotated[str | None, ROUTES(**_PANEL)] = None
    route: Annotated[str | None, ROUTE(ENGINES, **_PANEL)] = None
    rate: Annotated[
        BytesPerSecond | None,
        RATE(
            ": that of the fastest host port; others have it in proportion.",
            default=f"{8e-6 * _USUAL.rate:.0f}Mbit",
            **_PANEL,
        ),
    ] = None
    buffer: Annotated[Bytes | None, BUFFER(default=f"{_USUAL.buffer // 1000}kB", **_PANEL)] = None
    host_queue: Annotated[
        Bytes | None, HOST_QUEUE(default="the 1,000 packets of a Linux host", **_PANEL)
    ] = None
    rto_min: Annotated[
        Seconds | None,
        RTO_MIN(
            ": N times 200ms if it stands for a network N times as fast.",
            default=f"{1000 * _USUAL.rto_min:.0f}ms",
            **_PANEL,
        ),
    ] = None
    placement: Annotated[
        str | None,
        PLACEMENT(f"{PLACEMENTS} For an emulated fabric.", default="linear", **_PANEL),
    ] = None

    def settings(self) -> dict[str, Any]:
        """What `bring_up` of an emulated fabric is told of cables; the rest has defaults."""
        named = {name: getattr(self, name) for name in ("rate", "buffer", "host_queue", "rto_min")}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True)
class Where:
    """Where ranks run. A verb that takes one has all options that say it."""

    on: Annotated[
        str | None,
        ON(
            ", or on emulated:FABRIC.",
            default="this machine, or a batch job's hosts",
            **_PANEL,
        ),
    ] = None
    launcher: Annotated[
        str,
        LAUNCHER(
            ": mpirun, srun, sbatch, or the beginning of a command line such as "
            '"aprun -n {ranks}".',
            default="the library's own",
            **_PANEL,
        ),
    ] = ""
    cables: CableOptions = field(default_factory=CableOptions)

    def given(self) -> dict[str, Any]:
        """The options that say where, but for those of loading, by their names."""
        named = {"on": self.on, "launcher": self.launcher or None}
        named |= {name: getattr(self.cables, name) for name in _OF_CABLES}
        return {name: value for name, value in named.items() if value is not None}

    @property
    def is_emulated(self) -> bool:
        """Whether ranks are to run on an emulated fabric."""
        return self.on is not None and self.on.startswith(EMULATED)

    def fabric(self) -> Fabric:
        """The fabric that is to be emulated, with its routes."""
        return self.cables.load((self.on or "").removeprefix(EMULATED))

    @contextmanager
    def place(
        self, console: Console, *, memory: int | None = None, fabric: str | None = None
    ) -> Iterator[Place]:
        """The hosts of a host file, an emulated fabric, or this machine.

        Args:
            console: is told when an emulated fabric is up.
            memory: free bytes of a real host, where somebody said.
            fabric: that real hosts are part of, whose routes schedules may go by.

        Raises:
            UsageError: for options that do not fit together.
            InputError: for a host file that is none.
            MissingError: this machine cannot emulate a fabric.
        """
        if self.is_emulated:
            if fabric is not None:
                raise UsageError("--fabric: --on emulated:FABRIC already names the fabric")
            network = self.fabric()
            with self.emulated(
                network,
                console,
                order=emulation.order_of(network, self.cables.placement or "linear"),
            ) as place:
                yield place
            return
        self.refuse_cables(but=("routes", "route") if fabric is not None else ())
        slots = () if self.on is None else placement.read_host_names(self.on)
        yield measurement.RealHosts(
            slots=slots,
            launcher=self.launcher,
            free_memory=memory,
            fabric=None if fabric is None else self.cables.load(fabric),
        )

    def refuse_cables(self, *, but: Sequence[str] = ()) -> None:
        """Refuses what only an emulated fabric has.

        Args:
            but: options that a real fabric has too.

        Raises:
            UsageError: naming the first option that does not fit.
        """
        for option in _OF_CABLES[:-1]:
            if option not in but and getattr(self.cables, option) is not None:
                raise UsageError(f"--{option.replace('_', '-')} belongs to --on emulated:FABRIC")
        if not but and self.cables.loading != WHOLE:
            raise UsageError(
                "--part, --without, --rails and --strict belong to --on emulated:FABRIC"
            )
        if self.cables.placement is not None:
            raise UsageError(
                "--placement belongs to --on emulated:FABRIC; a host file has its own order"
            )

    @contextmanager
    def emulated(
        self,
        fabric: Fabric,
        console: Console,
        *,
        order: Sequence[int],
        hosts: Sequence[int] | None = None,
    ) -> Iterator[EmulatedHosts]:
        """The hosts of a fabric that is emulated as long as the context lasts; says that it is up.

        Args:
            fabric: with routes.
            console: is told.
            order: hosts in the order in which ranks fill them.
            hosts: only these, and what their routes use; None for all.
        """
        if self.launcher:
            raise UsageError("--launcher: an emulated fabric takes the library's own")
        started = time.monotonic()
        with emulation.bring_up(fabric, **self.cables.settings(), hosts=hosts) as network:
            line = report.network_line(network, time.monotonic() - started)
            console.print(line, markup=False, soft_wrap=True)
            yield emulation.EmulatedHosts(network, order)


@dataclass(frozen=True)
class Started:
    """Ranks that contend starts itself, where a command would start its own."""

    ranks: Annotated[int | None, RANKS(min=1, **_PANEL)] = None
    ranks_per_host: Annotated[int | None, RANKS_PER_HOST("With -n.", min=1, **_PANEL)] = None
    mpi: Annotated[
        str | None,
        MPI(
            LIBRARIES,
            default="the command's, or with -n the first usable one",
            **_PANEL,
        ),
    ] = None

    def check(self, command: Sequence[str], where: Where) -> None:
        """Refuses what cannot be started, before anything is.

        Raises:
            UsageError: there is no such command, or a place without a number of ranks.
        """
        if not command[0]:
            raise UsageError("the command after -- is empty")
        if shutil.which(command[0]) is None:
            raise UsageError(f"{command[0]}: no such program")
        if self.ranks is None and (where != Where() or self.ranks_per_host is not None):
            raise UsageError("--on and --ranks-per-host need -n: contend then starts the ranks")

    @contextmanager
    def seated(self, where: Where, console: Console) -> Iterator[tuple[Shape | None, Place | None]]:
        """The ranks and their place while an emulated one lasts; neither without a number."""
        if self.ranks is None:
            yield None, None
            return
        with where.place(console) as place:
            each = () if self.ranks_per_host is None else (self.ranks_per_host,)
            [shape] = measurement.make_shapes((self.ranks,), each, place.slots, alone=place.alone)
            yield shape, place
