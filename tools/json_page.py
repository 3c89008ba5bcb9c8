"""Writes docs/reference/json.md, the keys of what ``--json`` gives, from the classes of results."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import re
import sys
import textwrap
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec

import contend
from contend.base import schema
from contend.congestion import FabricSummary, PacketSimulation
from contend.cure import (
    BetterSeats,
    BetterTables,
    Engines,
    Failures,
    Growth,
    Improvement,
    Lessons,
    NetworkChanges,
    PartsCost,
)
from contend.lab.emulation import Emulation
from contend.lab.measurement import MeasuredRuns, Measurement
from contend.lab.mpi import Libraries
from contend.prediction import Calibration, PredictedProgram, Predictions, TcpPredictions
from contend.profiling import ProgramProfile
from contend.report.fabric.written import Generators, HostList, Made
from contend.report.page.networks import NetworkPage
from contend.report.profile.document import Profiles
from contend.routes import CheckReport

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "json.md"

COMMANDS: dict[str, tuple[type, ...]] = {
    "contend simulate": (contend.Simulation, PacketSimulation),
    "contend measure, contend report": (Measurement, MeasuredRuns),
    "contend profile, contend report": (ProgramProfile, Profiles),
    "contend calibrate": (Calibration,),
    "contend predict": (Predictions, TcpPredictions, PredictedProgram, contend.Collectives),
    "contend study": (
        contend.SimulatedStudy,
        contend.MeasuredStudy,
        contend.VerifiedStudy,
        contend.PredictedMemory,
    ),
    "contend explain": (contend.Explanation,),
    "contend tune": (Lessons,),
    "contend place": (BetterSeats,),
    "contend route": (BetterTables,),
    "contend watch": (contend.Watched,),
    "contend jobs": (contend.Jobs,),
    "contend fabric show": (FabricSummary,),
    "contend fabric check": (CheckReport,),
    "contend fabric diff": (NetworkChanges,),
    "contend fabric engines": (Engines,),
    "contend fabric failures": (Failures,),
    "contend fabric hosts": (HostList,),
    "contend fabric extend": (Growth,),
    "contend fabric improve": (Improvement,),
    "contend fabric make": (Made, Generators),
    "contend fabric page": (NetworkPage,),
    "contend emulate": (Emulation,),
    "contend mpi": (Libraries,),
    "contend doctor": (contend.Diagnosis,),
    "--without": (PartsCost,),
}
INTRODUCTION = """\
# JSON

`--json FILE` writes a command's result; `-` is standard output, where then nothing else is printed.
Seconds, bytes and bytes per second everywhere; π is [congestion](words.md). A key marked *optional*
is left out where it does not apply; null is a value that is not known. With `--without`, commands
that judge traffic add `without`, the [cost of the parts](#parts-cost) that are gone; `contend jobs`
has `costs`.
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    known: set[type] = set()
    for commands, roots in COMMANDS.items():
        parts.append(f"## {commands}\n")
        for root in roots:
            for struct in with_nested(root):
                if struct not in known:
                    known.add(struct)
                    parts.append(_section(struct))
    return "\n".join(parts)


def keys_of(struct: type) -> dict[str, tuple[Any, bool, str]]:
    """Type of every key, whether it may be left out, and what it means."""
    means = _meanings(struct)
    # What has a document of its own has a verdict.
    found = {"verdict": (str, False, means["verdict"])} if getattr(struct, "_told", "") else {}
    for member in schema.members(struct):
        if schema.FieldMark.SPREAD in member.marks:
            [spread] = member.alternatives
            found |= keys_of(spread)
        else:
            optional = schema.FieldMark.LEFT_OUT in member.marks
            found[member.key] = member.kind, optional, means.get(member.name, "")
    return found


def _meanings(struct: type) -> dict[str, str]:
    """What own keys mean: the texts below fields."""
    found: dict[str, str] = {}
    for base in reversed(struct.__mro__):
        found |= _texts_below(base)
    return found


def _texts_below(struct: type) -> dict[str, str]:
    """Texts below the fields of a class, and docstrings of its properties."""
    if not struct.__module__.startswith("contend."):
        return {}
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(struct))).body
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for node, below in itertools.zip_longest(tree.body, tree.body[1:]):
        if isinstance(node, ast.FunctionDef):
            found[node.name] = " ".join((ast.get_docstring(node) or "").split())
        elif isinstance(node, ast.AnnAssign) and isinstance(below, ast.Expr):
            assert isinstance(node.target, ast.Name)
            text = ast.literal_eval(below.value)
            found[node.target.id] = " ".join(text.split())
    return found


def _section(struct: type) -> str:
    rows = [
        f"| `{key}` | {_type_words(hint)}{', optional' if optional else ''} | {_escaped(meaning)} |"
        for key, (hint, optional, meaning) in keys_of(struct).items()
    ]
    head = ["| key | type | meaning |", "|---|---|---|"]
    return "\n".join(
        [
            f"### {_title(struct)}",
            "",
            " ".join((struct.__doc__ or "").split()),
            "",
            *head,
            *rows,
            "",
        ]
    )


def with_nested(struct: type) -> Iterator[type]:
    """A struct, then those that its keys hold, each before what it holds in turn."""
    yield struct
    for hint, *_ in keys_of(struct).values():
        for part in _parts(hint):
            if _is_struct(part):
                yield from with_nested(part)


def _parts(hint: Any) -> Iterator[Any]:
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is Annotated:
        yield from _parts(hint.__origin__)
    elif arguments:
        for argument in arguments:
            yield from _parts(argument)
    else:
        yield _as_told(hint)


def _as_told(hint: Any) -> Any:
    """The class that is told in place of one: of a fabric its size."""
    told = getattr(hint, "as_told", None)
    return hint if told is None else typing.get_type_hints(told)["return"]


def _is_struct(hint: Any) -> bool:
    return isinstance(hint, type) and (
        issubclass(hint, msgspec.Struct) or dataclasses.is_dataclass(hint)
    )


def _title(struct: type) -> str:
    words = re.findall(r"[A-Z][a-z]+", struct.__name__)
    return " ".join(words).capitalize()


def _type_words(hint: Any) -> str:
    """A type for people: ``list of number``, ``text or null``."""
    hint = _as_told(hint)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _type_words(hint.__origin__)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_type_words, arguments)))
    if origin is typing.Literal:
        return "text"
    if origin is dict:
        return f"object of {_type_words(arguments[1])}"
    if origin is tuple and arguments[-1] is not Ellipsis:
        return f"{len(arguments)} × {_type_words(arguments[0])}"
    if origin in (list, tuple):
        return f"list of {_type_words(arguments[0])}"
    if _is_struct(hint):
        return f"[{_title(hint).lower()}](#{_title(hint).lower().replace(' ', '-')})"
    names = {str: "text", int: "integer", float: "number", bool: "true or false"}
    return "null" if hint is type(None) else names.get(hint, "text")


def _escaped(text: str) -> str:
    text = text.replace("``", "`").replace("|", "\\|")
    # Two hyphens would become a dash.
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]+)", r"`\1`", text)


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(f"{PAGE}\n")
