"""How ``contend study`` finds the studies that have options of their own."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

from contend.cli.study_memory import mistry2015
from contend.errors import UsageError

_OWN = {function.__name__: function for function in (mistry2015,)}


class StudyCommand(TyperCommand):
    """The command of plans, which hands over when the first argument names another study."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """The context of the command that is to run, with its arguments."""
        if args and args[0] in _OWN:
            name, *rest = args
            return _command(name).make_context(f"{info_name} {name}", rest, parent, **extra)
        context = super().make_context(info_name, args, parent, **extra)
        if (plan := context.params.get("plan")) in _OWN:
            raise UsageError(f"{plan} goes before its options: contend study {plan} ...")
        return context


def _command(name: str) -> Any:
    app = typer.Typer(add_completion=False)
    app.command(name)(_OWN[name])
    return typer.main.get_command(app)
