"""The verb ``contend measure``: one file per probe."""

import typer

measure_app = typer.Typer(
    no_args_is_help=True,
    help="Measure what communication gets, on this machine or on the hosts of a cluster.",
)
