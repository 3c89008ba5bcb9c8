"""Results that are their own schema: what a field means, how it reads, and what programs get of it.

A result is a frozen dataclass. The text below a field is its meaning, marks in the field's type say
how a number reads, and a property that is `told` is given to programs as fields are::

    @dataclass(frozen=True, kw_only=True)
    class Job:
        '''A job on the fabric.'''

        servers: int
        '''Number of servers.'''
        alone: Share | None = None
        '''Share of its ports that its messages get without other jobs; null if it sends none.'''

Tables, JSON, CSV, frames and the page of all keys are made from it.
"""

from __future__ import annotations

import enum
import functools
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

from contend.base.errors import UsageError

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from contend.report import Document


Value = TypeVar("Value")


class FieldMark(enum.Enum):
    """What a field's type says beside its kind."""

    SHARE = "reads as a percentage"
    SECONDS = "reads as a time"
    RATE = "reads as bytes per second"
    SIZE = "reads as bytes"
    PYTHON_ONLY = "is for Python alone"
    LEFT_OUT = "is left out where it is None"
    SPREAD = "has its members told in its place"

    def __repr__(self) -> str:
        """As pages of the documentation show it."""
        return self.value


Share = Annotated[float, FieldMark.SHARE]
Seconds = Annotated[float, FieldMark.SECONDS]
Rate = Annotated[float, FieldMark.RATE]
Size = Annotated[int, FieldMark.SIZE]
PythonOnly = Annotated[Value, FieldMark.PYTHON_ONLY]
LeftOut = Annotated[Value | None, FieldMark.LEFT_OUT]
Spread = Annotated[Value, FieldMark.SPREAD]


if TYPE_CHECKING:
    told = property
    told_once = functools.cached_property
else:

    def told(function):
        """A property that programs get as they get fields."""
        function.told = True
        return property(function)

    def told_once(function):
        """A cached property that programs get as they get fields."""
        function.told = True
        return functools.cached_property(function)


@dataclass(frozen=True)
class ResultMember:
    """A field of a result, or a property that is told."""

    name: str
    kind: Any
    """Type, with its marks."""
    marks: frozenset[FieldMark]

    @property
    def key(self) -> str:
        """Its name for programs: an underscore that Python alone needs, as in ``global_``, goes."""
        return self.name.removesuffix("_")

    @property
    def alternatives(self) -> frozenset[Any]:
        """The types that it may have beside None, without marks."""
        return _alternatives(self.kind) - {type(None)}


@functools.cache
def members(result: type) -> tuple[ResultMember, ...]:
    """What programs get of results of a class: fields as declared, then properties.

    The class may be one of msgspec's, such as what a file holds: its marks keep what is for Python
    alone, but not out of the file.
    """
    hints = typing.get_type_hints(result, include_extras=True)
    declared = (field.name for field in fields(result)) if is_dataclass(result) else ()
    names = getattr(result, "__struct_fields__", declared)
    kinds = {name: hints[name] for name in names}
    for base in reversed(result.__mro__):
        for name, value in vars(base).items():
            getter = getattr(value, "fget", None) or getattr(value, "func", None)
            if getattr(getter, "told", False):
                kinds[name] = typing.get_type_hints(getter, include_extras=True)["return"]
    found = (ResultMember(name, kind, _marks(kind)) for name, kind in kinds.items())
    return tuple(member for member in found if FieldMark.PYTHON_ONLY not in member.marks)


def _marks(hint: Any) -> frozenset[FieldMark]:
    """Marks of a type, those of its alternatives included: ``Share | None`` is a share."""
    if typing.get_origin(hint) is Annotated:
        own = {mark for mark in hint.__metadata__ if isinstance(mark, FieldMark)}
        return _marks(hint.__origin__) | own
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return frozenset().union(*map(_marks, typing.get_args(hint)))
    return frozenset()


def _alternatives(hint: Any) -> frozenset[Any]:
    if typing.get_origin(hint) is Annotated:
        return _alternatives(hint.__origin__)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return frozenset().union(*map(_alternatives, typing.get_args(hint)))
    return frozenset({hint})


def plain(value: Any) -> Any:
    """A result as dictionaries, lists and scalars, by its members.

    A value whose class has a method ``as_told`` is what that returns; a fabric is its size.
    """
    kind = type(value)
    if kind in (str, int, float, bool, type(None)):
        return value
    if hasattr(kind, "as_told"):
        return plain(value.as_told())
    if _has_members(kind):
        return _of_members(value, kind)
    if isinstance(value, Mapping):
        return {str(key): plain(content) for key, content in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(kind, "tolist"):
        return value.tolist()
    # Help is told without it.
    from msgspec import to_builtins

    # Its tuples stay tuples.
    return plain(to_builtins(value, str_keys=True))


def _of_members(value: Any, kind: type) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for member in members(kind):
        content = getattr(value, member.name)
        if FieldMark.SPREAD in member.marks:
            # Of the class that the page of keys shows, where the value's own has more.
            [declared] = member.alternatives
            result |= _of_members(content, declared)
        elif content is not None or FieldMark.LEFT_OUT not in member.marks:
            result[member.key] = plain(content)
    return result


def _has_members(kind: type[Any]) -> bool:
    """Whether values are told by their members; msgspec tells those that leave out defaults."""
    if hasattr(kind, "__struct_fields__"):
        return not kind.__struct_config__.omit_defaults
    return is_dataclass(kind)


def rows(value: Any, member: str | None = None) -> list[dict[str, Any]]:
    """A list within a result, a flat dictionary for each member: ``gain.value`` for what is within.

    Args:
        value: the result.
        member: the list's name; None: the first list that has members, or the result itself where
            its class has no list.
    """
    content = plain(value)
    lists = {name: part for name, part in content.items() if _is_list_of_objects(part)}
    if member is None:
        itself = [] if _classes_of_lists(value) else [content]
        return [_flat(row) for row in next(iter(lists.values()), itself)]
    return [_flat(row) for row in content[member]]


def heads(value: Any) -> list[str]:
    """Names of the columns of a result whose lists are all empty."""
    return [member.key for kind in _classes_of_lists(value)[:1] for member in members(kind)]


def _classes_of_lists(value: Any) -> list[type]:
    """The classes of what the lists of a result hold, by their types."""
    kind: type = type(value)
    if not _has_members(kind):
        return []
    kinds = (each for member in members(kind) for each in member.alternatives)
    parts: list[Any] = [
        typing.get_args(each)[0] for each in kinds if typing.get_origin(each) is tuple
    ]
    return [part for part in parts if isinstance(part, type) and _has_members(part)]


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _flat(content: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, dict):
            row |= _flat(value, f"{before}{name}.")
        else:
            row[before + name] = value
    return row


class Shown:
    """A result with one document for terminal, files and notebook.

    A class names the function of `contend.report` that makes its document:
    ``class Failures(Shown, told="failures_document")``. It is imported when somebody looks.
    """

    __slots__ = ()
    _told: ClassVar[str] = ""
    _drawn: ClassVar[str] = ""

    def __init_subclass__(cls, *, told: str = "", drawn: str = "", **more: Any) -> None:
        """Notes which functions of `contend.report` tell such results, and draw them into axes."""
        super().__init_subclass__(**more)
        cls._told = told or cls._told
        cls._drawn = drawn or cls._drawn

    def document(self) -> Document:
        """Verdict, tables, pictures and record of the result."""
        document: Document = getattr(import_module("contend.report"), self._told)(self)
        return document

    @property
    def verdict(self) -> str:
        """What it comes to, in a sentence or a line each for several."""
        return self.document().verdict

    def figure(self, name: str | None = None) -> Figure:
        """Draws one of the result's pictures; None is the most telling one.

        Raises:
            UsageError: there is none of that name.
        """
        return self.document().figure(name)

    def plot(self, picture: str | None = None, ax: Axes | None = None) -> Axes:
        """Draws one of the result's pictures.

        Args:
            picture: its name; None: the most telling one.
            ax: where to draw, for results that can be drawn into axes of somebody's own; None makes
                a figure.

        Returns:
            The axes.

        Raises:
            UsageError: there is none of that name, or it is not drawn into given axes.
        """
        if self._drawn:
            axes: Axes = getattr(import_module("contend.report"), self._drawn)(self, picture, ax)
            return axes
        if ax is not None:
            raise UsageError("ax: this result makes a figure of its own; leave it out")
        return self.figure(picture).axes[0]

    def to_frame(self, member: str | None = None) -> polars.DataFrame:
        """One of the result's lists as a frame, a row for each member; None is the first list."""
        import polars

        frame = polars.DataFrame(rows(self, member), infer_schema_length=None)
        # Numbers of which none is known.
        return frame.with_columns(polars.selectors.by_dtype(polars.Null).cast(polars.Float64))

    def _repr_html_(self) -> str:
        return self.document().html()
