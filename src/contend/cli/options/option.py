"""What an option is: its names and help on the command line, and how its text becomes a value."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_type_hints

import typer

from contend.base.errors import ContendError, UsageError
from contend.base.files import check_place

# Typer reads words; the callback of an option makes its value of them. So what typer is told is
# `str`, and what a verb gets is what stands here for the type checker.
if TYPE_CHECKING:
    Bytes: TypeAlias = int
    BytesPerSecond: TypeAlias = float
    Seconds: TypeAlias = float
    Share: TypeAlias = float
    Numbers: TypeAlias = tuple[int, ...]
    Times: TypeAlias = tuple[float, ...]
else:
    Bytes = BytesPerSecond = Seconds = Share = Numbers = Times = str

Value = TypeVar("Value")
_Callback = TypeVar("_Callback", bound=Callable[..., Any])
_Target = TypeVar("_Target", str, Path, str | None, Path | None)


def parsed(flag: str, parse: Callable[[str], Value]) -> Callable[[str | None], Value | None]:
    """A callback that makes an option's value of its text; None stays None.

    Raises:
        UsageError: as the parser does, with the option's name.
    """

    def value(text: str | None) -> Value | None:
        if text is None:
            return None
        try:
            return parse(text)
        except UsageError as error:
            raise UsageError(f"{flag}: {error}") from None

    return value


def with_options(
    verb: Callable[..., object], options: type[Any], name: str, call: Callable[..., object]
) -> Callable[..., Any]:
    """A command that lays open to typer the fields of a dataclass behind a verb's own arguments.

    Args:
        verb: its arguments come first on the command line; its name and words are the command's.
        options: the dataclass.
        name: of the argument by which the verb may take the options as one value.
        call: is given that value and the verb's own arguments by their names; what it returns, the
            command does.
    """
    shared = inspect.signature(options).parameters

    @functools.wraps(verb)
    def command(**given: Any) -> object:
        return call(options(**{option: given.pop(option) for option in shared}), given)

    hints = get_type_hints(verb, include_extras=True)
    hints |= get_type_hints(options, include_extras=True)
    # Options may have the name of the group that they come from.
    own = {key: value for key, value in inspect.signature(verb).parameters.items() if key != name}
    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
        for parameter in (*own.values(), *shared.values())
    ]
    # Typer reads what a command takes from here.
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__annotations__["return"] = hints.get("return")
    return command


def words(texts: list[str] | None) -> list[str] | None:
    """The words of an option that may be repeated and takes several with commas; None for none."""
    return [part.strip() for part in ",".join(texts).split(",")] if texts else None


def labels(texts: Iterable[str] | None) -> dict[str, str]:
    """``flow control=on`` by its parts; a text without ``=`` is a condition that holds."""
    parts = [text.partition("=") for text in texts or ()]
    return {name.strip(): value.strip() for name, _, value in parts}


def writing(callback: _Callback) -> _Callback:
    """The same callback, marked as that of an option which names what is written."""
    callback.writes = True  # type: ignore[attr-defined]
    return callback


@writing
def writable(target: _Target) -> _Target:
    """The same target of an option, refused before any work where it could not be written."""
    if target is not None and str(target) != "-":
        check_place(Path(target))
    return target


@writing
def drawable(target: _Target) -> _Target:
    """As `writable`, of a figure: what contend cannot draw by its ending is refused too."""
    from contend.report import check_suffix

    if target is not None:
        check_suffix(Path(target))
    return writable(target)


@dataclass(frozen=True)
class Option:
    """An option as every verb has it."""

    names: tuple[str, ...]
    """Its names, the long one first."""
    metavar: str | None
    """What it takes; None for a switch."""
    help: str
    """What it means, without the last full stop, so that a verb may go on."""
    callback: Callable[..., Any] | None = None
    """What makes its value of its text."""

    def __call__(
        self, more: str = "", *, default: str = "", many: bool = False, **others: Any
    ) -> Any:
        """The option for a verb.

        Args:
            more: what the verb adds to the help: after the full stop, or as ``: such as ...``.
            default: in words, where the option that was not given is None.
            many: whether it takes a list.
            others: as of typer.Option.
        """
        glue = "" if more.startswith((":", ",", ";")) else "." if not more else ". "
        shown = f" [default: {default}]" if default else ""
        return typer.Option(
            *self.names,
            metavar=f"{self.metavar},..." if many and self.metavar else self.metavar,
            # Brackets are marks of style where help is printed.
            help=f"{self.help}{glue}{more}{shown}".replace("[", r"\["),
            callback=others.pop("callback", self.callback),
            show_default=not default,
            **others,
        )


def option(
    *names: str, takes: str | None, means: str, by: Callable[[str], Any] | None = None
) -> Option:
    """An option whose text a parser makes a value of."""
    return Option(names, takes, means, parsed(names[0], by) if by is not None else None)


def in_options(error: ContendError) -> str:
    """An error's text with options for its arguments: ``--routes FILE`` for ``routes=FILE``."""
    return error.worded(lambda one: f"{flag_of(one.name)} {one.value or ''}".rstrip())


def flag_of(name: str) -> str:
    """The option that stands for an argument: ``--ranks-per-host``."""
    return f"--{name.replace('_', '-')}"
