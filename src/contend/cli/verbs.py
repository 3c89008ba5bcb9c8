"""Verbs that are imported when they run: the list of all of them is known without."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from inspect import getdoc
from os.path import exists, isfile, realpath, samefile
from pathlib import Path
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from contend.base.errors import UsageError
from contend.base.units import listed
from contend.cli.options.option import with_options


class _Command(TyperCommand):
    """A command that refuses an option of one value that is given twice: which one is meant?"""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What is left of the words; as of the base class."""
        given: list[Any] = self.make_parser(ctx).parse_args(list(args))[2]
        for option, times in Counter(given).items():
            once = option.param_type_name == "option" and not (option.is_flag or option.multiple)
            if once and times > 1 and not ctx.resilient_parsing:
                number = "twice" if times == 2 else f"{times} times"
                raise UsageError(f"{option.opts[0]} takes one value, and is given {number}")
        return super().parse_args(ctx, args)


class Verb(TyperCommand):
    """A verb by its line in the list; its module is imported when the verb runs or tells its help.

    Args:
        place: module below `contend.cli` and function that carry it out, as ``machine:mpi``; the
            function has its name.
        line: the first line of its help.
    """

    def __init__(self, place: str, line: str) -> None:
        module, _, name = place.partition(":")
        super().__init__(name=name, help=line, rich_markup_mode="rich")
        self.module = f"contend.cli.{module}"
        """Module that has its function."""

    @cached_property
    def command(self) -> Any:
        """The verb itself, with its options."""
        assert self.name is not None
        return command_of(self.name, getattr(import_module(self.module), self.name))

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """The context of the verb itself."""
        context = self.command.make_context(info_name, args, parent, **extra)
        # Of a line that is still being typed nothing is refused.
        if not context.resilient_parsing:
            _check_written(self.command.params, context.params)
        return context


def command_of(name: str, function: Callable[..., Any]) -> Any:
    """The command that a function is, by its arguments."""
    single = typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich"
    )
    paragraphs = (getdoc(function) or "").split("\n\n")
    # Lines end where the terminal does, not where they do in the source.
    words = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    single.command(name, cls=_Command, help=words)(_with_outputs(_with_groups(function)))
    return typer.main.get_command(single)


def _with_groups(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the options of each group that it takes, such as `Loading` or `Where`.

    A group is a dataclass of options, and of further groups. `Outputs` are more, and stay.
    """
    hints = get_type_hints(function).items()
    groups = [(name, hint) for name, hint in hints if is_dataclass(hint)]
    for name, hint in groups:
        if name not in ("return", "outputs"):
            assert isinstance(hint, type)

            def call(group: Any, given: dict[str, Any], name: str = name) -> Any:
                return function(**{name: group}, **given)

            return _with_groups(with_options(function, hint, name, call))
    return function


def _with_outputs(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with options that say where its result goes, and a result that goes there."""
    # Here: the list of all verbs is told without what prints and draws.
    from contend.cli.options.outputs import Outputs, TextOutputs
    from contend.report import Document

    hints = get_type_hints(function)
    taken = [name for name, hint in hints.items() if _is_kind(hint, TextOutputs)]
    if not taken and hints.get("return") is not Document:
        return function

    def call(outputs: TextOutputs, given: dict[str, Any]) -> None:
        outputs.check(given)
        document = function(**dict.fromkeys(taken, outputs), **given)
        # A verb that ends as a program does has delivered its own.
        if document is not None:
            outputs.deliver(document, taken=given.get("output") == "-")

    name = taken[0] if taken else ""
    return with_options(function, hints[name] if taken else Outputs, name, call)


def _is_kind(hint: object, kind: type) -> bool:
    return isinstance(hint, type) and issubclass(hint, kind)


def _check_written(options: Iterable[Any], given: Mapping[str, Any]) -> None:
    """Refuses before any work what would overwrite an input, or another output.

    Raises:
        UsageError: two outputs for one file or for standard output, or one for a file that is read.
    """
    flags = {o.name: o.opts[0] for o in options if getattr(o.callback, "writes", False)}
    outputs = {
        flags[name]: str(given[name]) for name in flags if isinstance(given[name], str | Path)
    }
    to_standard = [flag for flag, place in outputs.items() if place == "-"]
    if len(to_standard) > 1:
        raise UsageError(f"only one of {listed(to_standard)} can go to standard output")
    # The name of a form, such as rankfile, may be that of a file, too.
    chosen = {option.name for option in options if hasattr(option.type, "choices")}
    read = [
        part
        for name, value in given.items()
        if name not in flags and name not in chosen
        for text in (value if isinstance(value, list | tuple) else [value])
        if isinstance(text, str | Path)
        for part in _files_in(str(text))
    ]
    flag_of: dict[str, str] = {}
    for flag, place in outputs.items():
        # Standard streams and devices lose nothing.
        if place == "-" or (exists(place) and not isfile(place)):
            continue
        if any(isfile(source) and isfile(place) and samefile(source, place) for source in read):
            raise UsageError(
                f"{place}: this file is being read, and what the new one leaves out would be "
                "lost; write to another one"
            )
        if (other := flag_of.setdefault(realpath(place), flag)) != flag:
            raise UsageError(f"{place}: {other} and {flag} would overwrite each other here")


def _files_in(text: str) -> Iterator[str]:
    """What an argument may name as a file: all of it, or with a prefix or options, as file:A,ring.

    A command reads the files that are words of it.
    """
    yield text
    yield text.partition(":")[2]
    yield from re.split("[:, ]", text)


class Group(TyperGroup):
    """Verbs under one name.

    Attributes:
        usual: the verb that is meant where none is named; "" for none.
    """

    usual = ""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that is meant: the one that is named, or the usual one for what exists."""
        word = args[0]
        inside = [
            name for name, held in self.commands.items() if word in getattr(held, "commands", ())
        ]
        if word not in self.commands and inside:
            ctx.fail(f"{word} is a verb of {listed(inside)}: type contend {inside[0]} {word}")
        if self.usual and word not in self.commands:
            # While a line is typed the path in it may not be there yet.
            if Path(word).exists() or ctx.resilient_parsing:
                return self.usual, self.commands[self.usual], args
            if not word.startswith("-") and not get_close_matches(word, self.commands):
                verbs = ", ".join(self.commands)
                ctx.fail(f"{word}: neither a file or folder nor a verb of {self.name} ({verbs})")
        return super().resolve_command(ctx, args)


def verbs(lines: Mapping[str, str]) -> list[Verb]:
    """Verbs by the places and the lines that `Verb` takes."""
    return [Verb(place, line) for place, line in lines.items()]


def group(name: str, line: str, lines: Mapping[str, str], usual: str = "") -> Group:
    """Verbs under one name.

    Args:
        name: as it is typed.
        line: the first line of its help.
        lines: of its verbs, as `verbs` takes them.
        usual: the one that is meant where a path stands instead of a verb; "" for none.
    """
    made = Group(
        name=name,
        help=line,
        commands={verb.name or "": verb for verb in verbs(lines)},
        no_args_is_help=True,
        rich_markup_mode="rich",
    )
    made.usual = usual
    return made
