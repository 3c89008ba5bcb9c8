"""The front door: verbs are registered here, errors become one line and an exit status here."""

from __future__ import annotations

import sys
from typing import cast

import typer

# A verb registers itself when it is imported.
import contend.cli.fabric.check
import contend.cli.fabric.convert
import contend.cli.fabric.draw
import contend.cli.fabric.hosts
import contend.cli.fabric.make
import contend.cli.fabric.show
import contend.cli.measure.alltoall
import contend.cli.measure.bisect
import contend.cli.measure.hotspot
import contend.cli.measure.pingpong
import contend.cli.measure.sort  # noqa: F401
from contend.cli.emulate import emulate
from contend.cli.fabric import fabric_app
from contend.cli.measure import measure_app
from contend.cli.mpi import mpi
from contend.cli.report import report
from contend.cli.simulate import simulate
from contend.cli.study import study
from contend.cli.study_command import StudyCommand
from contend.cli.wording import in_options
from contend.errors import ContendError

# Typer brings its own copy of click in newer versions; its public errors lead to the base class.
_WrongUsage = cast(
    "type[Exception]",
    next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"),
)

app = typer.Typer(
    name="contend",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="How much of a network's rated bandwidth will a communication get, and what stands in "
    "its way?",
)
app.add_typer(fabric_app, name="fabric")
app.add_typer(measure_app, name="measure")
app.command()(emulate)
app.command()(mpi)
app.command()(report)
app.command()(simulate)
app.command(cls=StudyCommand)(study)


@app.callback()
def _contend() -> None:
    """Verbs are commands even while there is only one of them."""


def run(arguments: list[str]) -> int:
    """Runs one command and returns its exit status, having written one line for any error."""
    try:
        return _invoke(arguments)
    except ContendError as error:
        print(f"contend: {in_options(str(error))}", file=sys.stderr)
        return error.status
    except _WrongUsage as error:
        # No message: the help has been printed instead.
        if message := getattr(error, "format_message", str)():
            print(f"contend: {message}", file=sys.stderr)
        return 2
    except (typer.Abort, KeyboardInterrupt):
        print("contend: interrupted", file=sys.stderr)
        return 130
    except FileNotFoundError as error:
        print(f"contend: {error.filename}: no such file", file=sys.stderr)
        return 2
    except MemoryError:
        print("contend: not enough memory for this", file=sys.stderr)
        return 3
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"contend: {where}{error.strerror or error}", file=sys.stderr)
        return 2


def _invoke(arguments: list[str]) -> int:
    """Runs one command; unlike its `main` this leaves interrupts to `run`."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("contend", arguments) as context:
            result = command.invoke(context)
    except typer.Exit as finished:
        result = finished.exit_code
    # Here rather than at exit, where a full disk could no longer be told of.
    sys.stdout.flush()
    return result if isinstance(result, int) else 0
