"""The options that verbs share, each declared once: its name, what it takes, what it means.

A verb takes `Annotated` types from here. What an option says is turned into a value by a parser of
`contend.base.units` before the verb runs, and an error names it. docs/reference/words.md
explains every option, also of single verbs; tests/cli/test_vocabulary.py holds all verbs to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from contend.base.errors import UsageError
from contend.base.units import (
    checked_times,
    parse_numbers,
    parse_rate,
    parse_seconds,
    parse_share,
    parse_size,
)
from contend.cli.options.option import (
    Bytes,
    Numbers,
    Seconds,
    option,
    parsed,
    words,
    writable,
)


def _share(text: str) -> float:
    share = parse_share(text)
    # 0 is for measurements: never reached, so they take all the time and repetitions they have.
    if share != 0 and not 1e-9 <= share < 1:
        raise UsageError(f"expected a share below 100%, got {text!r}")
    return share


def _time(text: str) -> float:
    seconds = parse_seconds(text)
    if seconds <= 0:
        raise UsageError(f"expected a time above 0 such as 90s or 5min, got {text!r}")
    return seconds


def _memory(text: str) -> int:
    size = parse_size(text)
    if size == 0:
        raise UsageError(f"expected a size above 0 such as 24GiB, got {text!r}")
    return size


# What is looked at.
FABRIC_HELP = (
    "A topology file of any kind that contend reads (compressed or not; - for standard input), or "
    "a generator with its parameters, such as thunderbird or xgft:2;18,36;1,18."
)
FabricArgument = Annotated[str, typer.Argument(metavar="FABRIC", help=FABRIC_HELP)]
ROUTES = option("--routes", takes="FILE", means="Read the fabric's forwarding tables from FILE")
ROUTE = option("--route", takes="ENGINE", means="Compute the routes with ENGINE")
ENGINES = (
    ": contend, minhop, updn, dor or dmodk; ecmp, spray, valiant, ugal or adaptive, which have no "
    "tables; or opensm:NAME, which runs the real OpenSM."
)
LANES = option("--lanes", takes="N", means="Number of virtual lanes that routes may use")
RoutesOption = Annotated[str | None, ROUTES()]
RouteListOption = Annotated[list[str] | None, ROUTE(f"{ENGINES} Repeat it to compare engines.")]

FABRIC = option("--fabric", takes="FABRIC", means="Use this fabric")
PART = option("--part", takes="PART", means="Load only one plane of a fabric that has several")
WITHOUT = option("--without", takes="WHAT", means="Remove parts that have failed")
RAILS = option(
    "--rails", takes="FILE", means="Read from FILE which adapter of a server is on which rail"
)
STRICT = option(
    "--strict", takes=None, means="Fail if a topology file is incomplete, instead of warning"
)


@dataclass(frozen=True)
class Loading:
    """How fabrics are loaded. A verb that takes one of these has all options that say it."""

    part: Annotated[
        str | None,
        PART(": its number in contend fabric show, or the name of a host in it.", default="all"),
    ] = None
    without: Annotated[
        list[str] | None,
        WITHOUT(
            ": a switch (spine3), a cable (spine3:12), a host, all that match ('spine*', "
            "node[1-16]), or those that file:PATH lists. Tables are mended where necessary. "
            "Repeat it for several."
        ),
    ] = None
    rails: Annotated[
        str | None,
        RAILS(
            ": a line for each server, what nvidia-smi topo -m prints of one of them, or NCCL's "
            "topology.",
            default="from names",
        ),
    ] = None
    strict: Annotated[bool, STRICT()] = False


WHOLE = Loading()
"""Fabrics as they are."""


# Who communicates: patterns, ranks, hosts.
PATTERN = option("--pattern", "-p", takes="PATTERN", means="Who sends to whom")
PLACEMENT = option("--placement", takes="PLACEMENT", means="Which rank runs on which host")
PLACEMENTS = (
    ": linear, guid, bfs, round-robin, servers, rings, given, same-leaf, leaves:K, spread, "
    "port-group:K, random, or file:PATH."
)
HOSTS = option("--hosts", takes="CHOICE", means="Use only these hosts")
RANKS = option("--ranks", "-n", takes="N", means="Number of ranks")
RANKS_PER_HOST = option("--ranks-per-host", takes="N", means="Number of ranks on every host")
PlacementOption = Annotated[str, PLACEMENT(PLACEMENTS)]
HostsOption = Annotated[
    str | None,
    HOSTS(
        ": a number of them, their names, a pattern such as node[1-64], or a file.", default="all"
    ),
]
RanksOption = Annotated[int | None, RANKS(min=1)]
RanksPerHostOption = Annotated[int, RANKS_PER_HOST(min=1)]
_IN_TURNS = "Several numbers are measured in turn."
RanksListOption = Annotated[
    Numbers | None, RANKS(_IN_TURNS, many=True, callback=parsed("--ranks", parse_numbers))
]
RanksPerHostListOption = Annotated[
    Numbers | None,
    RANKS_PER_HOST(_IN_TURNS, many=True, callback=parsed("--ranks-per-host", parse_numbers)),
]

JOBS = option("--jobs", takes="FILE", means="What squeue --json prints")

# Where it is measured.
ON = option("--on", takes="HOSTFILE", means="Run on the hosts of this host file")
MPI = option("--mpi", takes="LIBRARY", means="MPI library to use")
LIBRARIES = ": openmpi, mpich-4.0 and the like, a folder with bin/mpicc, or a compiler wrapper."
LAUNCHER = option("--launcher", takes="COMMAND", means="Launcher that starts the ranks")
MEMORY = option("--memory", takes="SIZE", means="Free memory of a host, such as 24GiB", by=_memory)
WIRE = option(
    "--wire", takes="RATE", means="Bandwidth of a host port, such as 1Gbit/s", by=parse_rate
)
RATE = option("--rate", takes="RATE", means="Bandwidth of a cable in each direction", by=parse_rate)
MODEL = option("--model", takes=None, means="What is modelled")
BUFFER = option(
    "--buffer",
    takes="SIZE",
    means="Bytes that a switch can queue for one channel",
    by=parse_size,
)
HOST_QUEUE = option(
    "--host-queue",
    takes="SIZE",
    means="Bytes that can queue at a host's own port",
    by=parse_size,
)
RTO_MIN = option("--rto-min", takes="TIME", means="Shortest TCP time-out", by=_time)
_FIRST = "the first usable one of contend mpi"
MpiOption = Annotated[str | None, MPI(LIBRARIES, default=_FIRST)]
MpiListOption = Annotated[
    list[str] | None,
    MPI(
        f"{LIBRARIES} Several libraries are compared.",
        many=True,
        default=_FIRST,
        callback=words,
    ),
]

# What is measured, and how often.
ALGORITHM = option("--algorithm", "-a", takes="NAME", means="Algorithms to measure or predict")
CALIBRATION = option("--calibration", takes="PATH", means="Costs of messages")
MEASURED = option("--measured", takes="RUN", means="Compare the prediction with a measured run")
BYTES = option("--bytes", takes="SIZE", means="Bytes of a message")
VECTORS = option("--vectors", takes="N", means="Number of vectors to sort, over all ranks")
LENGTH = option("--length", "-m", takes="M", means="Doubles in a vector")
PATTERNS = option("--patterns", takes="N", means="Number of random patterns to measure")
PACKETS = option("--packets", takes="N", means="Number of packets in a message")
TWO_WAY = option("--two-way", takes=None, means="Both ranks of a pair send")
SAMPLES = option("--samples", takes="N", means="Number of random patterns or placements to draw")
SEED = option("--seed", takes="N", means="Seed of every random choice")
PRECISION = option(
    "--precision",
    takes="SHARE",
    means="Stop once the 95 % interval is within this share of the result, such as 5% or 0.05",
    by=_share,
)
LAUNCHES = option("--launches", takes="N", means="How often to launch every cell")
BUDGET = option(
    "--budget", takes="TIME", means="Time limit for everything, such as 10min", by=_time
)
VERIFY = option("--verify", takes=None, means="Check the data of every sample, not only the first")
LABEL = option(
    "--label",
    takes="TEXT",
    means='A condition that contend cannot detect, such as "flow control=on"',
)
RETRY = option("--retry", takes=None, means="Retry what failed before")
LIST = option("--list", takes=None, means="List the possible values and exit")
ONLY = option("--only", takes="NAME", means="Run only this part of the plan")
CalibrationOption = Annotated[
    Path | None,
    CALIBRATION(
        ": the folder or file that contend calibrate wrote.", default="usual costs, as stated"
    ),
]
BytesOption = Annotated[Bytes, BYTES(callback=parsed("--bytes", parse_size))]
SeedOption = Annotated[int, SEED(min=0, max=2**64 - 1)]
BudgetOption = Annotated[Seconds | None, BUDGET()]
LabelOption = Annotated[list[str] | None, LABEL("Repeat it for several conditions.")]

# What comes out.
JSON = option("--json", takes="FILE", means="Write the result as JSON; - is standard output")
PLOT = option("--plot", takes="FILE", means="Draw a figure: .svg, .png, .pdf or .html")
MARKDOWN = option(
    "--markdown", takes="FILE", means="Write the tables as Markdown; - is standard output"
)
CSV = option(
    "--csv", takes="FILE", means="Write the rows of the result as CSV; - is standard output"
)
PROMETHEUS = option(
    "--prometheus", takes="FILE", means="Write the figures as metrics that Prometheus reads"
)
FORMAT = option("--format", takes=None, means="Format of the list")
OUTPUT = option("--output", "-o", takes="PATH", means="Where to write the result")
MATRIX = option(
    "--matrix", takes="FILE", means="Write the bytes from every rank to every other as .npy"
)
PICTURE = option("--picture", takes="NAME", means="What --plot draws")
_FILE = OUTPUT(": a file; .gz, .xz and .zst compress, - is standard output.", callback=writable)
FileOption = Annotated[str, _FILE]
MaybeFileOption = Annotated[str | None, _FILE]
FORMS = (
    ": plain names; a host file for Open MPI or MPICH; for Slurm a line for every rank "
    "(SLURM_HOSTFILE with srun --distribution=arbitrary), or a nodelist; a rankfile for Open "
    "MPI; or MPICH_RANK_ORDER for Cray."
)
RunFolderOption = Annotated[
    Path | None,
    OUTPUT(": a new folder for the run.", default="contend-runs/PROBE-DATE-NUMBER"),
]


class ModelChoice(StrEnum):
    """What is simulated."""

    COUNTED = "counted"
    PACKETS = "packets"


class QueuesChoice(StrEnum):
    """What --queues takes."""

    FIFO = "fifo"
    VOQ = "voq"
    BOTH = "both"


QUEUES = option("--queues", takes=None, means="How switches keep packets")
MTU = option("--mtu", takes="SIZE", means="Bytes of a packet", by=parse_size)
SWITCH_LATENCY = option(
    "--switch-latency",
    takes="TIME",
    means="Time from a packet's first bit at a switch",
    by=parse_seconds,
)
CABLE_LATENCY = option(
    "--cable-latency", takes="TIME", means="Time that bits take along each cable", by=checked_times
)


@dataclass(frozen=True)
class SwitchOptions:
    """How switches and cables carry packets."""

    queues: Annotated[
        QueuesChoice | None,
        QUEUES(
            ": in one queue for each port, or in one for each way out; both bracket real switches.",
            default="both",
        ),
    ] = None
    buffer: Annotated[
        Bytes | None, BUFFER("0 is any number, for --model packets.", default="64KiB")
    ] = None
    mtu: Annotated[Bytes | None, MTU(default="4KiB")] = None
    switch_latency: Annotated[
        Seconds | None, SWITCH_LATENCY("until it can leave it.", default="130ns")
    ] = None
    cable_latency: Annotated[
        str | None,
        CABLE_LATENCY("or by kind: hosts=10ns,switches=50ns,level3=5us.", default="20ns"),
    ] = None

    def switches(self) -> dict[str, Any]:
        """Those that are given, as functions that carry packets take them."""
        taken = {
            name: value
            for name in ("buffer", "mtu", "switch_latency", "cable_latency")
            if (value := getattr(self, name)) is not None
        }
        if self.queues not in (None, QueuesChoice.BOTH):
            taken["queues"] = (str(self.queues),)
        return taken

    def only_for(self, names: Iterable[str], model: str, asked: bool) -> None:
        """Refuses options that are for another model.

        Raises:
            UsageError: one of them is given, and the model is not asked for.
        """
        for name in names:
            if not asked and getattr(self, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} goes with --model {model}")


SWITCHES = tuple(field.name for field in fields(SwitchOptions))


@dataclass(frozen=True)
class PacketModelOptions(SwitchOptions):
    """How packets are carried. A verb that takes one has all options that say it."""

    model: Annotated[
        ModelChoice, MODEL(": messages counted on channels, or carried out as packets, too.")
    ] = ModelChoice.COUNTED

    @property
    def asked(self) -> bool:
        """Whether packets are carried out.

        Raises:
            UsageError: options for packets without them.
        """
        asked = self.model == ModelChoice.PACKETS
        names = (field.name for field in fields(self) if field.name != "model")
        self.only_for(names, ModelChoice.PACKETS, asked)
        return asked


@dataclass(frozen=True)
class PacketOptions(PacketModelOptions):
    """The same with how much hosts send."""

    bytes: Annotated[
        str | None, BYTES("With steady, hosts send all the time.", default="steady")
    ] = None

    def arguments(self) -> dict[str, Any]:
        """As `contend.simulate_packets` takes them."""
        taken = self.switches()
        if self.bytes not in (None, "steady"):
            taken["message_bytes"] = parsed("--bytes", parse_size)(self.bytes)
        return taken
