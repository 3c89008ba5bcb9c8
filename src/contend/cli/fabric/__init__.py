"""The verb ``contend fabric``: one file per action."""

import typer

fabric_app = typer.Typer(
    no_args_is_help=True, help="Show, check, convert, make or draw a fabric, or list its hosts."
)
