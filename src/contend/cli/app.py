"""The front door: all verbs, and what becomes of an error: one line and an exit status."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
import warnings
from collections.abc import Callable
from itertools import takewhile
from typing import Annotated, Any, cast

import typer

from contend.base.errors import (
    FULL,
    ContendError,
    IncompleteInput,
    MissingError,
    UsageError,
    printable_line,
)
from contend.base.progress import shown_steps
from contend.cli.options.option import in_options
from contend.cli.verbs import Group, group, verbs

# Typer brings its own copy of click in newer versions; its public errors lead to the base class.
_WrongUsage = cast(
    "type[Exception]",
    next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"),
)
_FAULT = 70
# What only the machine can be blamed for: no room, and no more files, memory or processes.
_LACKING = (*FULL, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)

VERBS = (
    group(
        "fabric",
        "Show, check, convert, make or draw a fabric, or list its hosts.",
        {
            "fabric.known:check": "Check a fabric and its routes; exit status 1 when something is "
            "wrong.",
            "fabric.written:convert": "Write a fabric as a file of another kind.",
            "fabric.known:diff": "Show what changed in a network: nodes, cables, speeds, routes "
            "and bandwidth.",
            "fabric.drawn:draw": "Draw a fabric, or the connections of an all-to-all.",
            "fabric.known:engines": "Route a fabric with every engine, and rank the results.",
            "fabric.written:extend": "Add servers, switches or faster uplinks to a fabric, cabled "
            "by its own rule.",
            "fabric.known:failures": "Remove every switch and cable, one at a time, and rank the "
            "failures by cost.",
            "fabric.known:hosts": "List hosts by their position in the fabric, for mpirun and "
            "Slurm.",
            "fabric.written:improve": "Find free ports to connect with new cables, and what each "
            "cable gains.",
            "fabric.written:make": "Generate a fabric and write it to a file.",
            "fabric.drawn:page": "Write a fabric as a page to look into: search it, click its "
            "parts.",
            "fabric.known:show": "Show what a fabric is made of, and its rated bisection "
            "bandwidth.",
        },
    ),
    group(
        "measure",
        "Measure communication on this machine or on the hosts of a cluster.",
        {
            "measure.plain:alltoall": "Measure all-to-all communication with the library's "
            "algorithms and others.",
            "measure.pairs:bisect": "Measure random pairs of ranks that all send at once.",
            "measure.pairs:hotspot": "Measure a pair of hosts while k other pairs load a channel "
            "that it crosses.",
            "measure.plain:pingpong": "Measure messages between two ranks, back and forth or "
            "streamed.",
            "measure.plain:sort": "Measure the data exchange of a parallel sort, and the steps "
            "around it.",
        },
    ),
    *verbs(
        {
            "predict:calibrate": "Measure what messages cost, for contend predict.",
            "machine:doctor": "Show what contend can do on this machine, and what to install for "
            "the rest.",
            "programs:emulate": "Run a command inside a switched fabric of network namespaces on "
            "this machine.",
            "results:explain": "Say which limit a measurement or a program hit, with the evidence "
            "and the remedy.",
            "cure:jobs": "Show how well running jobs are placed, which hurt each other, and where "
            "to put the next.",
            "machine:mpi": "List the MPI libraries of this machine; exit status 3 when none is "
            "usable.",
            "cure:place": "Place a program's ranks on hosts so that fewer messages share a link.",
        }
    ),
    group(
        "predict",
        "Predict how long communication takes on a fabric.",
        {
            "predict:alltoall": "Predict how long all-to-alls take on a fabric, as contend measure "
            "measures them.",
            "predict:collectives": "Predict the bandwidth of all-to-alls, shifts, rings and trees "
            "from the rates of links.",
            "predict:program": "Predict how long a profiled program takes elsewhere: fabrics, "
            "routes, placements.",
        },
        usual="program",
    ),
    *verbs(
        {
            "programs:profile": "Record what an MPI program communicates, and show where its time "
            "in MPI goes.",
            "results:report": "Show the results of measured runs (cells, winners, collapses) or of "
            "profiles.",
            "route:route": "Compute better forwarding tables, and show what they gain.",
            "cure:run": "Start an MPI program whose all-to-alls follow rules from contend tune.",
            "simulate:simulate": "Count the congestion of a traffic pattern on a fabric.",
            "study:study": "Carry out a plan: simulate its patterns, measure its grid, or verify "
            "the simulation.",
            "cure:tune": "Learn which all-to-all is fastest for which ranks and sizes, and write "
            "rules for it.",
            "watch:watch": "Show what every cable carries now, beside what it can and should.",
        }
    ),
)
"""Every verb: its module below `contend.cli` with its function, and the first line of its help."""

app = typer.Typer(
    name="contend",
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="How much of a network's rated bandwidth will a communication get, and what stands in "
    "its way?",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(version_line())
        raise typer.Exit


@app.callback()
def _contend(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback if contend itself fails.")
    ] = False,
) -> None:
    pass


def command() -> Any:
    """The whole command line."""
    whole: Any = typer.main.get_command(app)
    for verb in VERBS:
        whole.add_command(verb)
    return whole


def run_reporting_faults(arguments: list[str]) -> int:
    """Runs one command; a fault of contend itself becomes one line and a file with its traceback.

    Returns:
        The exit status.
    """
    # Before the verb; what follows it may belong to another program.
    debug = "--debug" in list(takewhile(lambda word: word.startswith("-"), arguments))
    try:
        return run(list(arguments))
    except (KeyboardInterrupt, SystemExit):
        raise
    # A library's panic is no Exception.
    except BaseException as error:
        return _tell(report_fault(error, show=debug), _FAULT)


def run(arguments: list[str]) -> int:
    """Runs one command and returns its exit status, having written one line for any error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", IncompleteInput)
            warnings.showwarning = _warner(warnings.showwarning)
            return _invoke(arguments)
    except ContendError as error:
        return _tell(in_options(error), error.status)
    except _WrongUsage as error:
        # No message: the help has been printed instead.
        message = getattr(error, "format_message", str)()
        # A value is told of as contend itself does.
        message = re.sub(r"^Invalid value for '(--[\w-]+)'[^:]*: ", r"\1: ", message)
        return _tell(message, 2) if message else 2
    except (typer.Abort, KeyboardInterrupt):
        return _tell("interrupted", 130)
    except FileNotFoundError as error:
        return _tell(f"{error.filename}: no such file", 2)
    except MemoryError:
        return _tell("there is not enough memory for this", 3)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        status = MissingError.status if error.errno in _LACKING else UsageError.status
        return _tell(f"{name}{error.strerror or error}", status)
    except RuntimeError as error:
        if "can't start new thread" not in str(error):
            raise
        return _tell("no further thread can be started for this user", MissingError.status)


def _warner(others: Callable[..., None]) -> Callable[..., None]:
    """What prints a warning of contend as one line, each text once, and leaves others alone."""
    told: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, IncompleteInput):
            others(message, category, *place, **more)
        elif str(message) not in told:
            told.add(str(message))
            print(f"contend: warning: {printable_line(str(message))}", file=sys.stderr)

    return show


def _tell(error: object, status: int) -> int:
    print(f"contend: {printable_line(str(error))}", file=sys.stderr)
    return status


def _invoke(arguments: list[str]) -> int:
    """Runs one command; unlike its `main` this leaves interrupts to `run`."""
    for stream in (sys.stdout, sys.stderr):
        # Names may hold what the locale cannot write; two that differ shall look different.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    whole = command()
    # Where a shell asks for completions this ends with them.
    whole._main_shell_completion({}, "contend")
    try:
        with whole.make_context("contend", arguments) as context, shown_steps():
            result = whole.invoke(context)
    except typer.Exit as finished:
        result = finished.exit_code
    # Here rather than at exit, where a full disk could no longer be told of.
    sys.stdout.flush()
    return result if isinstance(result, int) else 0


def version_line() -> str:
    """``contend 1.0.0``."""
    # Imported here, as below: no verb needs it, and every verb would wait for it.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"contend {version('contend')}"
    except PackageNotFoundError:
        return "contend, not installed"


def report_fault(error: BaseException, *, show: bool) -> str:
    """Keeps the traceback of a fault in a file, and says so.

    Args:
        error: what no verb expected.
        show: whether the traceback is printed too.

    Returns:
        What to tell the user.
    """
    import tempfile
    import traceback

    text = "".join(traceback.format_exception(error))
    if show:
        print(text, end="", file=sys.stderr)
    fault = printable_line(f"this is a fault of contend: {type(error).__name__}: {error}", 300)
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            prefix="contend-fault-",
            suffix=".txt",
            dir=os.environ.get("CONTEND_FAULTS"),
            delete=False,
            encoding="utf-8",
            errors="backslashreplace",
        ) as file:
            print(version_line(), *sys.argv[1:], file=file)
            file.write(text)
    except OSError:
        return fault
    return f"{fault}; please report it with {file.name}"
