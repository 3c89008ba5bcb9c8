"""What contend can do on this machine as a table and JSON."""

from __future__ import annotations

from typing import Annotated

import msgspec

from contend.machine import Diagnosis
from contend.report.document import Document
from contend.report.table import ResultTable


def diagnosis_document(diagnosis: Diagnosis) -> Document:
    """What this machine can do, what was found, and what to do for the rest."""
    rows = tuple(
        (
            ability.name,
            "yes" if ability.usable else "no",
            ability.found,
            ability.remedy,
            ability.purpose,
        )
        for ability in diagnosis.abilities
    )
    table = ResultTable(
        title="What contend can do here",
        columns=("to", "here", "found", "what to do", "needed for"),
        rows=rows,
        tones={"yes": "green", "no": "yellow"},
    )
    record = msgspec.convert(diagnosis, DiagnosisJson, from_attributes=True)
    return Document(tables=[table], record=record)


class AbilityJson(msgspec.Struct, frozen=True, kw_only=True):
    """Something that contend can do where the machine has what it takes."""

    name: Annotated[str, "what it is, as a verb."]
    purpose: Annotated[str, "the commands and options that need it."]
    usable: Annotated[bool, "whether this machine has what it takes."]
    found: Annotated[str, "what is there, or what is missing."]
    remedy: Annotated[str, 'what to do where it is not usable; "" where it is.']
    install: Annotated[str, 'the command that installs what is missing; "" where none does.']


class ResourcesJson(msgspec.Struct, frozen=True, kw_only=True):
    """What this machine offers to a process of contend."""

    cpus: Annotated[int, "processors that the process may run on."]
    cores: Annotated[int, "cores; fewer than processors where each runs several threads."]
    memory: Annotated[int | None, "bytes that programs can still take; null if it is not known."]


class DiagnosisJson(msgspec.Struct, frozen=True, kw_only=True):
    """What contend can do on this machine."""

    verdict: Annotated[str, "what it can do, and what installs the rest, in words."]
    machine: Annotated[ResourcesJson, "cores and memory."]
    abilities: Annotated[list[AbilityJson], "all that were tried."]
