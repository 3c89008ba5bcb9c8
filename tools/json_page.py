"""Writes docs/reference/json.md, the keys of what ``--json`` gives, from the structs.

With ``--keep`` new keys, and new names of `contend`, are added to tests/data/kept/names.txt: what a
release has promised, which a test finds in all later versions.
"""

from __future__ import annotations

import dataclasses
import re
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

import contend
from contend.prediction import Calibration
from contend.report.collectives import CollectivesJson
from contend.report.cure.better_seats import BetterSeatsJson
from contend.report.cure.better_tables import BetterTablesJson
from contend.report.cure.engines import EnginesJson
from contend.report.cure.failures import FailuresJson
from contend.report.cure.improvement import ImprovementJson
from contend.report.emulate import EmulationJson
from contend.report.explanation import ExplanationJson
from contend.report.fabric.checks import CheckReportJson
from contend.report.fabric.difference import FabricChangesJson
from contend.report.fabric.host_list import HostListJson
from contend.report.fabric.made import GeneratorsJson, MadeJson
from contend.report.fabric.summary import FabricSummaryJson
from contend.report.jobs.json import JobsJson
from contend.report.machine.abilities import DiagnosisJson
from contend.report.machine.libraries import LibrariesJson
from contend.report.memory import MemoryJson
from contend.report.page.document import PageJson
from contend.report.prediction.json import PredictedJson, PredictedProgramJson
from contend.report.profile.json import ProfileJson, ProfilesJson
from contend.report.run.json import MeasurementJson, RunsJson
from contend.report.simulation.json import SimulationJson
from contend.report.study.json import StudyJson, VerificationJson
from contend.report.study.measured_json import MeasuredStudyJson
from contend.report.tuning import TuningJson
from contend.report.watching import WatchedJson

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "json.md"
KEPT = Path(__file__).parent.parent / "tests" / "data" / "kept" / "names.txt"

COMMANDS: dict[str, tuple[type, ...]] = {
    "contend simulate": (SimulationJson,),
    "contend measure, contend report": (MeasurementJson, RunsJson),
    "contend profile, contend report": (ProfileJson, ProfilesJson),
    "contend calibrate": (Calibration,),
    "contend predict": (PredictedJson, PredictedProgramJson, CollectivesJson),
    "contend study": (StudyJson, MeasuredStudyJson, VerificationJson, MemoryJson),
    "contend explain": (ExplanationJson,),
    "contend tune": (TuningJson,),
    "contend place": (BetterSeatsJson,),
    "contend route": (BetterTablesJson,),
    "contend watch": (WatchedJson,),
    "contend jobs": (JobsJson,),
    "contend fabric show": (FabricSummaryJson,),
    "contend fabric check": (CheckReportJson,),
    "contend fabric diff": (FabricChangesJson,),
    "contend fabric engines": (EnginesJson,),
    "contend fabric failures": (FailuresJson,),
    "contend fabric hosts": (HostListJson,),
    "contend fabric improve": (ImprovementJson,),
    "contend fabric make": (MadeJson, GeneratorsJson),
    "contend fabric page": (PageJson,),
    "contend emulate": (EmulationJson,),
    "contend mpi": (LibrariesJson,),
    "contend doctor": (DiagnosisJson,),
}
INTRODUCTION = """\
# JSON

`--json FILE` writes a command's result; `-` is standard output, where then nothing else is printed.
Seconds, bytes and bytes per second everywhere; π is [congestion](words.md). A key marked *optional*
is left out where it does not apply; null is a value that is not known.
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


def fields_of(struct: type) -> list[tuple[str, str, Any, bool]]:
    """Name in JSON, name in the docstring, type and whether it may be left out."""
    hints = typing.get_type_hints(struct)
    if issubclass(struct, msgspec.Struct):
        return [
            (field.encode_name, field.name, hints[field.name], field.default is msgspec.UNSET)
            for field in msgspec.structs.fields(struct)
        ]
    return [
        (field.name, field.name, hints[field.name], False) for field in dataclasses.fields(struct)
    ]


def meanings(struct: type) -> dict[str, str]:
    """What every key means: as it is annotated or, of values of other rooms, by the docstring."""
    hints = typing.get_type_hints(struct, include_extras=True)
    found = {name: text for name, hint in hints.items() for text in _texts(hint)}
    for base in reversed(struct.__mro__):
        _, _, listed = (base.__doc__ or "").partition("Attributes:\n")
        for name, text in re.findall(r"^ {8}(\w+): (.*?)(?=^ {8}\w+:|\Z)", listed, re.S | re.M):
            found[name] = " ".join(text.replace("None", "null").split())
    return found


def _texts(hint: Any) -> list[str]:
    return [text for text in getattr(hint, "__metadata__", ()) if isinstance(text, str)]


def _section(struct: type) -> str:
    about = (struct.__doc__ or "").partition("Attributes:")[0]
    means = meanings(struct)
    rows = [
        f"| `{name}` | {_type_words(hint)}{', optional' if optional else ''} | "
        f"{_escaped(means.get(attribute, ''))} |"
        for name, attribute, hint, optional in fields_of(struct)
    ]
    head = ["| key | type | meaning |", "|---|---|---|"]
    return "\n".join([f"### {_title(struct)}", "", " ".join(about.split()), "", *head, *rows, ""])


def with_nested(struct: type) -> Iterator[type]:
    """A struct, then those that its keys hold, each before what it holds in turn."""
    yield struct
    for *_, hint, _ in fields_of(struct):
        for part in _parts(hint):
            if _is_struct(part):
                yield from with_nested(part)


def _parts(hint: Any) -> Iterator[Any]:
    arguments = typing.get_args(hint)
    if arguments:
        for argument in arguments:
            yield from _parts(argument)
    else:
        yield hint


def _is_struct(hint: Any) -> bool:
    return isinstance(hint, type) and (
        issubclass(hint, msgspec.Struct) or dataclasses.is_dataclass(hint)
    )


def _title(struct: type) -> str:
    words = re.findall(r"[A-Z][a-z]+", struct.__name__.removesuffix("Json"))
    return " ".join(words).capitalize()


def _type_words(hint: Any) -> str:
    """A type for people: ``list of number``, ``text or null``."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        kinds = [_type_words(part) for part in arguments if part is not msgspec.UnsetType]
        return " or ".join(dict.fromkeys(kinds))
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


def promised() -> dict[str, set[str]]:
    """What scripts rely on: names of `contend`, and each command's keys with their types."""
    keys = {
        commands: {key for root in roots for key in _keys(root)}
        for commands, roots in COMMANDS.items()
    }
    return {"import contend": set(contend.__all__), **keys}


def _keys(struct: type, above: str = "") -> Iterator[str]:
    """Keys and types: ``cells.median_s number or null``."""
    for name, _, hint, optional in fields_of(struct):
        words = re.sub(r"\[.*?\]\(.*?\)", "object", _type_words(hint))
        yield f"{above}{name} {words}{', optional' if optional else ''}"
        for part in filter(_is_struct, _parts(hint)):
            yield from _keys(part, f"{above}{name}.")


def read_promised(text: str) -> dict[str, set[str]]:
    """Names and keys that were kept before."""
    sections = (section.splitlines() for section in text.split("\n\n"))
    return {head: set(lines) for head, *lines in sections}


def _keep() -> None:
    known = read_promised(KEPT.read_text()) if KEPT.exists() else {}
    sections = {head: lines | known.pop(head, set()) for head, lines in promised().items()} | known
    KEPT.write_text("\n\n".join("\n".join([h, *sorted(lines)]) for h, lines in sections.items()))


def _escaped(text: str) -> str:
    text = text.replace("``", "`").replace("|", "\\|")
    # Two hyphens would become a dash.
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]+)", r"`\1`", text)


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(f"{PAGE}\n")
    if "--keep" in sys.argv[1:]:
        _keep()
