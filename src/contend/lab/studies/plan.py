"""Plans as TOML files: what all have, and every value checked, with the key that is wrong."""

from __future__ import annotations

import contextlib
import math
import re
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, TypeVar

import msgspec
from msgspec import Meta, Struct, inspect

from contend.base.errors import InputError, UsageError
from contend.base.units import nearest, parse_rate, parse_size, parse_sizes
from contend.lab.measurement import VectorLength

_PARSE, _CONTROL = "parse", "control"
# What no text may have; notes have several lines. As patterns of msgspec's types these would be in
# unions with lists, which makes msgspec 0.22 crash.
_ONE_LINE, _LINES = re.compile(r"[\x00-\x1f\x7f]"), re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

Name = Annotated[str, Meta(min_length=1, max_length=80)]
Text = Annotated[str, Meta(max_length=4096)]
Note = Annotated[str, Meta(max_length=4096, extra={_CONTROL: _LINES})]
Count = Annotated[int, Meta(ge=1, le=2**40)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Precision = Annotated[float, Meta(ge=1e-9, lt=1)]


def _every_size(items: object) -> tuple[int, ...]:
    if not isinstance(items, list | tuple):
        raise UsageError(f"expected a list of sizes and ranges of them, got {reprlib.repr(items)}")
    return tuple(dict.fromkeys(size for item in items for size in parse_sizes(str(item))))


def _said(parse: Callable[[str], object]) -> Meta:
    """What a plan says in a grammar, such as ``"1Gbit/s"``, and its value is."""
    return Meta(extra={_PARSE: lambda value: parse(str(value))})


Rate = Annotated[float, _said(parse_rate)]
Size = Annotated[int, _said(parse_size)]
Length = Annotated[VectorLength, _said(VectorLength.parse)]
Sizes = Annotated[tuple[int, ...], Meta(extra={_PARSE: _every_size})]


class StudyPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What every plan has."""

    kind: ClassVar[str] = ""
    """How its figures are made, in one word."""

    takes: ClassVar[frozenset[str]] = frozenset()
    """Options that change such a plan, by their names in Python."""

    places: ClassVar[frozenset[str]] = frozenset()
    """Options of the command line that say where such a plan runs."""

    name: Name
    """What the study is called, and by itself the folder of its results."""
    title: Text = ""
    """What it is about."""
    seed: Seed = 1
    """Seed of all random choices."""
    notes: tuple[Note, ...] = ()
    """Sentences that readers of the results must know."""

    def check(self, source: str) -> None:
        """Refuses a plan whose parts do not fit together, as one changed by options may not.

        Raises:
            InputError: naming `source` and the key.
        """
        if self.name[:1] in (".", " ") or any(mark in self.name for mark in "/\\"):
            wanted = (
                "a name that a folder can have, without / or \\ and no dot or space first, at name"
            )
            raise InputError(source, 0, wanted, self.name)

    def refuse_foreign(self, options: Iterable[str]) -> None:
        """Refuses options that belong to plans of another kind.

        Raises:
            UsageError: naming the first of them.
        """
        for option in options:
            if option not in self.takes | self.places:
                name = option.replace("_", "-")
                raise UsageError(f"--{name} does not belong to the study {self.name}")


def check_each_once(source: str, what: str, names: Iterable[str]) -> None:
    """Refuses names of a plan of which one is there twice.

    Raises:
        InputError: naming `source` and the name.
    """
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(source, 0, f"every {what} once", f"{name} {count} times")


def check_only(only: Iterable[str] | None, names: Sequence[str], between: str = ", ") -> None:
    """Refuses names to keep that a plan does not have.

    Raises:
        UsageError: naming the first of them, and those that there are, joined by `between`.
    """
    for name in only or ():
        if name not in names:
            known = between.join(names)
            raise UsageError(f"--only: expected one of {known}, got {name}{nearest(name, names)}")


@contextlib.contextmanager
def at_key(source: str, place: str) -> Iterator[None]:
    """Says where in a plan a value stands that a grammar refuses."""
    try:
        yield
    except UsageError as error:
        expected, comma, got = str(error).removeprefix("expected ").partition(", got ")
        if not comma:
            raise InputError(source, 0, f"a valid value at {place}", expected) from None
        raise InputError(source, 0, f"{expected} at {place}", got) from None


# Characters of a value in a grammar.
_LONGEST = 4096

_Kind = TypeVar("_Kind", bound=msgspec.Struct)


def checked(source: str, content: Mapping[str, Any], kind: type[_Kind]) -> _Kind:
    """The tables of a TOML file as a value of a msgspec structure.

    Raises:
        InputError: naming the file and the key, when something is not what it should be.
    """
    value: _Kind = _table(source, content, kind, "")
    return value


def changed_by(source: str, structure: _Kind, values: Mapping[str, Any]) -> _Kind:
    """A structure with other values for some keys; text is read as in a plan, values are values.

    Raises:
        InputError: naming the source and the key, when one is not what it should be.
    """
    kinds = {field.name: field for field in msgspec.structs.fields(structure)}
    return msgspec.structs.replace(
        structure,
        **{
            name: _value(source, value, kinds[name].type, kinds[name].encode_name, "")
            if any(
                isinstance(item, str) for item in (value if isinstance(value, tuple) else [value])
            )
            else value
            for name, value in values.items()
        },
    )


def _table(source: str, table: Mapping[str, Any], kind: type[Any], place: str) -> Any:
    """A table as a structure; `place` is what the table is called in errors, "" for the plan."""
    where = place or "the plan"
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    for key in table:
        if key not in fields:
            hint = nearest(key, fields)
            raise InputError(source, 0, f"only known keys in {where}", f"{key}{hint}")
    values = {}
    for key, field in fields.items():
        if key in table:
            values[field.name] = _value(source, table[key], field.type, key, place)
        elif field.required:
            raise InputError(source, 0, f"a key {key} in {where}", "none")
    return kind(**values)


def _value(source: str, value: Any, kind: Any, key: str, place: str) -> Any:
    """The value of a key; tables, and lists of them, are read as structures."""
    expected = inspect.type_info(kind)
    structure = _structure(expected)
    if structure is not None and isinstance(value, dict):
        return _table(source, value, structure, _heading(f"[{key}]", place))
    if (
        structure is not None
        and isinstance(expected, inspect.VarTupleType)
        and isinstance(value, list)
        and len(value) >= (expected.min_length or 0)
        and all(isinstance(item, dict) for item in value)
    ):
        return tuple(
            _table(source, item, structure, _heading(f"[[{key}]] number {number}", place))
            for number, item in enumerate(value, start=1)
        )
    try:
        with at_key(source, f"{key}{f' of {place}' if place else ''}"):
            return _plain(kind, value)
    except _UnfitError:
        wanted = f"{_words(expected)} at {key}{f' of {place}' if place else ''}"
        raise InputError(source, 0, wanted, reprlib.repr(value)) from None


class _UnfitError(Exception):
    """A value is not of its type, or beyond its bounds."""


def _plain(kind: Any, value: Any) -> Any:
    """A value without tables as its type has it."""
    extra, several = _extra(inspect.type_info(kind))
    if parse := extra.get(_PARSE):
        if several and not isinstance(value, list | tuple):
            raise _UnfitError
        return tuple(_parsed(parse, item) for item in value) if several else _parsed(parse, value)
    try:
        plain = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise _UnfitError from None
    control = extra.get(_CONTROL, _ONE_LINE)
    for item in plain if isinstance(plain, tuple) else (plain,):
        if isinstance(item, str) and control.search(item):
            raise _UnfitError
        if isinstance(item, float) and not math.isfinite(item):
            raise _UnfitError
    return plain


def _extra(expected: inspect.Type) -> tuple[dict[str, Any], bool]:
    """What a type says beyond msgspec's bounds, and whether it says so of each item of a list."""
    if isinstance(expected, inspect.UnionType):
        expected = expected.types[0]
    several = isinstance(expected, inspect.VarTupleType)
    if isinstance(expected, inspect.VarTupleType):
        expected = expected.item_type
    return (expected.extra if isinstance(expected, inspect.Metadata) else None) or {}, several


def _parsed(parse: Callable[[Any], Any], value: Any) -> Any:
    """A value by its grammar; one that is no text is what another gave already."""
    if isinstance(value, str | list | tuple) or type(value) is int:
        if len(str(value)) > _LONGEST:
            raise _UnfitError
        return parse(value)
    if isinstance(value, float | VectorLength):
        return value
    raise _UnfitError


def _structure(expected: inspect.Type) -> type[Any] | None:
    """The structure of a table, or of the tables of a list; None for other values."""
    if isinstance(expected, inspect.UnionType):
        structures = [_structure(item) for item in expected.types]
        return next((found for found in structures if found is not None), None)
    if isinstance(expected, inspect.VarTupleType):
        expected = expected.item_type
    return expected.cls if isinstance(expected, inspect.StructType) else None


def _heading(table: str, place: str) -> str:
    return f"{table} of {place}" if place else table


def _words(expected: inspect.Type, *, plural: bool = False) -> str:
    """What a value must be, in words."""
    end = "s" if plural else ""
    if isinstance(expected, inspect.IntType):
        return f"{'' if plural else 'a '}whole number{end}{_bounds(expected)}"
    if isinstance(expected, inspect.FloatType):
        return f"{'' if plural else 'a '}number{end}{_bounds(expected)}"
    if isinstance(expected, inspect.StrType):
        longest = f" of at most {expected.max_length:,} characters," if expected.max_length else ""
        return f"{'' if plural else 'a '}text{end}{longest} none of them a control character"
    if isinstance(expected, inspect.Metadata):
        return _words(expected.type, plural=plural)
    if isinstance(expected, inspect.BoolType):
        return "true or false"
    if isinstance(expected, inspect.LiteralType | inspect.EnumType):
        values = expected.values if isinstance(expected, inspect.LiteralType) else expected.cls
        known = list(map(str, values))
        return known[0] if len(known) == 1 else f"one of {', '.join(known)}"
    if isinstance(expected, inspect.VarTupleType):
        few = "at least one of these: " if expected.min_length else ""
        return f"a list of {few}{_words(expected.item_type, plural=True)}"
    if isinstance(expected, inspect.TupleType):
        return (
            f"a list of {len(expected.item_types)}: {_words(expected.item_types[0], plural=True)}"
        )
    if isinstance(expected, inspect.UnionType):
        kinds = [kind for kind in expected.types if not isinstance(kind, inspect.NoneType)]
        return " or ".join(_words(kind, plural=plural) for kind in kinds)
    return "tables" if plural else "a table"


def _bounds(expected: inspect.IntType | inspect.FloatType) -> str:
    words = [
        f" {word} {int(limit) if limit == int(limit) else limit:,}"
        for word, limit in (
            ("above", expected.gt),
            ("from", expected.ge),
            ("to", expected.le),
            ("below", expected.lt),
        )
        if limit is not None
    ]
    return (
        " and".join(words) if len(words) == 2 and words[1].startswith(" below") else "".join(words)
    )
