"""Verbs that are imported when they run: the list of all of them is known without."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from os.path import isfile, samefile
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from contend.errors import IncompleteInput, UsageError


class Verb(TyperCommand):
    """A verb by its line in the list; its module is imported when the verb runs or tells its help.

    Attributes:
        place: module and function that carry it out, as ``contend.cli.mpi:mpi``.
    """

    def __init__(self, name: str, place: str, line: str, cls: str | None = None) -> None:
        """A verb.

        Args:
            name: as it is typed.
            place: module and function, as ``contend.cli.mpi:mpi``.
            line: the first line of its help.
            cls: module and class of the command, where that is one of its own.
        """
        super().__init__(name=name, help=line, rich_markup_mode="rich")
        self.place = place
        self._cls = cls

    @cached_property
    def command(self) -> Any:
        """The verb itself, with its options."""
        cls = TyperCommand if self._cls is None else _import(self._cls)
        assert self.name is not None
        return command_of(self.name, _import(self.place), cls)

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """The context of the verb itself."""
        context = self.command.make_context(info_name, args, parent, **extra)
        _refuse_to_overwrite_input(context.params)
        return context


def _import(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def command_of(
    name: str, function: Callable[..., None], cls: type[TyperCommand] = TyperCommand
) -> Any:
    """The command that a function is, by its arguments."""
    single = typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich"
    )
    single.command(name, cls=cls)(function)
    made: Any = typer.main.get_command(single)
    if _OF_FABRICS & {parameter.name for parameter in made.params}:
        made.params += [_without(), _strict()]
    return made


# Arguments that name what is written.
_WRITTEN = {"output", "json", "plot", "csv", "markdown", "matrix", "messages"}


def _refuse_to_overwrite_input(given: Mapping[str, Any]) -> None:
    """Raises UsageError where a file is to be written that another argument reads."""
    read: list[str] = []
    for name, value in given.items():
        if name not in _WRITTEN:
            values = value if isinstance(value, list | tuple) else [value]
            read += [str(text).removeprefix("file:") for text in values if _is_name(text)]
    for name in sorted(_WRITTEN & given.keys()):
        output = given[name]
        if _is_name(output) and any(_is_same_file(source, str(output)) for source in read):
            raise UsageError(
                f"{output}: this file is being read, and what the new one leaves out would be "
                "lost; write to another one"
            )


def _is_name(value: object) -> bool:
    """Whether a value may name a file; standard streams have none."""
    return isinstance(value, str | Path) and str(value) != "-"


def _is_same_file(source: str, output: str) -> bool:
    return isfile(source) and isfile(output) and samefile(source, output)


# Arguments of verbs that read fabrics from files.
_OF_FABRICS = {"routes", "choice", "fabrics"}


DEAD: ContextVar[tuple[str, ...]] = ContextVar("dead", default=())
"""What the fabrics that a command loads are to be without."""


# Options that these verbs have alike, as one place loads all fabrics.


def _without() -> TyperOption:
    return TyperOption(
        param_decls=["--without"],
        metavar="WHAT",
        multiple=True,
        expose_value=False,
        callback=lambda context, parameter, names: DEAD.set(tuple(names or ())),
        help="Load the fabric as if a switch (spine3), a cable (spine3:12), a host, or those that "
        "file:PATH lists had died. Tables are mended where they must be. Repeat it for several.",
    )


def _strict() -> TyperOption:
    return TyperOption(
        param_decls=["--strict"],
        is_flag=True,
        default=False,
        show_default=False,
        expose_value=False,
        callback=_refuse_incomplete_files,
        help="Fail if a topology file is incomplete, instead of warning.",
    )


def _refuse_incomplete_files(context: Any, parameter: Any, wanted: bool) -> None:
    if wanted:
        warnings.filterwarnings("error", category=IncompleteInput)


class Group(TyperGroup):
    """Verbs under one name.

    Attributes:
        usual: the verb that is meant where none is named; "" for none.
    """

    usual = ""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that is meant: the one that is named, or the usual one for what exists."""
        word = args[0]
        if self.usual and word not in self.commands:
            if Path(word).exists():
                return self.usual, self.commands[self.usual], args
            if not word.startswith("-") and not get_close_matches(word, self.commands):
                verbs = ", ".join(self.commands)
                ctx.fail(f"{word}: neither a file or folder nor a verb of {self.name} ({verbs})")
        return super().resolve_command(ctx, args)


def group(name: str, line: str, verbs: Sequence[Verb], usual: str = "") -> Group:
    """Verbs under one name.

    Args:
        name: as it is typed.
        line: the first line of its help.
        verbs: that it has.
        usual: the one that is meant where a path stands instead of a verb; "" for none.
    """
    made = Group(
        name=name,
        help=line,
        commands={verb.name or "": verb for verb in verbs},
        no_args_is_help=True,
        rich_markup_mode="rich",
    )
    made.usual = usual
    return made
