"""How ``contend study`` finds out which kind of plan it is given, and so which options it has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from contend.cli.study_measured import measured
from contend.cli.study_verification import verification
from contend.cli.verbs import command_of
from contend.errors import UsageError
from contend.study import find_plan, is_measured, shipped_plans

_OWN = {"verification": verification}


class StudyCommand(TyperCommand):
    """The command of simulations, which hands over when the first argument is measurements."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """The context of the command that is to run, with its arguments."""
        if args and args[0] in _OWN:
            name, *rest = args
            return command_of(name, _OWN[name]).make_context(f"{info_name} {name}", rest, parent)
        if args and (plan := _measured_plan(args[0])) is not None:
            name, *rest = args
            command = command_of(Path(name).stem, measured)
            return command.make_context(f"{info_name} {name}", rest, parent, obj=plan, **extra)
        context = super().make_context(info_name, args, parent, **extra)
        plan_name = context.params.get("plan")
        if plan_name in _OWN:
            raise UsageError(f"{plan_name} goes before its options: contend study {plan_name} ...")
        if plan_name is not None and _measured_plan(plan_name) is not None:
            raise UsageError(f"{plan_name} goes before its options: contend study {plan_name} ...")
        return context


def _measured_plan(name: str) -> Path | None:
    """The file of a plan of measurements; None for anything else."""
    if name not in shipped_plans() and not Path(name).is_file():
        return None
    path = find_plan(name)
    return path if is_measured(path) else None
