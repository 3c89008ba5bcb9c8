"""Tries a candidate: compiles the smallest probe, runs it alone and under its launcher."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from contend.errors import ShortfallError
from contend.mpi.candidate import Candidate
from contend.mpi.compile import compile_probe
from contend.mpi.launcher import launch_command, launch_environment, launchers
from contend.mpi.library import Library
from contend.mpi.process import Finished, Run, run_process
from contend.mpi.version import recognise

_PROBE = "version"
_RANKS = 2
_LIMIT = 30.0
_FACT = re.compile(r"\bcontend (size|met|standard|file|version) ?(.*)")


@dataclass(frozen=True)
class _Facts:
    """What one run of the probe told; `met` ranks found each other."""

    met: int
    standard: str
    file: str
    reported: str


def examine(candidate: Candidate, *, run: Run = run_process, limit: float = _LIMIT) -> Library:
    """What a candidate is worth.

    Args:
        candidate: a wrapper, or a place without one.
        run: runs programs.
        limit: seconds that each program may take.

    Raises:
        MissingError: the cache of probes cannot be written.
    """
    found = Library(
        origin=candidate.origin,
        wrapper=str(candidate.wrapper or ""),
        usable=False,
        environment=candidate.environment,
    )
    try:
        program, alone = _compile_and_run(candidate, run, limit)
    except ShortfallError as error:
        return replace(found, why=str(error))
    facts = _facts(alone)
    if facts is not None:
        found = _described(found, facts)
    else:
        found = replace(found, notes=(f"a probe without a launcher fails: {alone.why()}",))
    return _launch(found, candidate, program, run, limit)


def _compile_and_run(candidate: Candidate, run: Run, limit: float) -> tuple[Path, Finished]:
    """The probe, and how it ended by itself; compiled again when an older one does not run."""
    environment = launch_environment(candidate.environment)
    program = compile_probe(_PROBE, candidate, "", run, limit)
    alone = run([str(program)], environment, limit)
    if _facts(alone) is None:
        # It may stem from a library that has since been replaced.
        program = compile_probe(_PROBE, candidate, "", run, limit, anew=True)
        alone = run([str(program)], environment, limit)
    return program, alone


def _launch(found: Library, candidate: Candidate, program: Path, run: Run, limit: float) -> Library:
    """Tries one launcher after the other until the ranks of one find each other."""
    faults: list[str] = []
    environment = launch_environment(candidate.environment)
    for launcher in launchers(candidate):
        ended = run(launch_command(launcher, _RANKS, [str(program)]), environment, limit)
        facts = _facts(ended)
        fault = _fault(launcher, found, facts, ended, environment, limit)
        if not fault and facts is not None:
            found = found if found.reported else _described(found, facts)
            notes = (*found.notes, *faults)
            return replace(found, usable=True, launcher=str(launcher), size=facts.met, notes=notes)
        if facts is not None and not found.size:
            found = replace(found, size=facts.met)
        faults.append(fault)
    if faults:
        # The first launcher is the likeliest to belong here; why others fail too helps nobody.
        return replace(found, why=faults[0])
    why = "no launcher: neither mpirun nor mpiexec beside the wrapper or on PATH"
    return replace(found, why=why)


def _fault(
    launcher: Path,
    found: Library,
    facts: _Facts | None,
    ended: Finished,
    environment: Mapping[str, str],
    limit: float,
) -> str:
    """What is wrong with a run under a launcher; "" when nothing is."""
    if ended.status is None:
        return f"{launcher}: {_RANKS} ranks did not end within {limit:g} s"
    if facts is None:
        return f"{launcher} fails: {ended.why()}"
    if found.reported and facts.reported != found.reported:
        name, version = recognise(facts.reported)
        return f"{launcher} makes the probe load another library, {name} {version}".rstrip()
    if facts.met != _RANKS:
        return (
            f"{launcher} belongs to another library: it starts {_RANKS} ranks that each are alone "
            f"(size {facts.met})"
        )
    return ""


def _described(found: Library, facts: _Facts) -> Library:
    name, version = recognise(facts.reported)
    return replace(
        found,
        name=name,
        version=version,
        standard=facts.standard,
        reported=facts.reported,
        file=facts.file,
    )


def _facts(ended: Finished) -> _Facts | None:
    """What the probe told; None when it failed or told nothing."""
    if ended.status != 0:
        return None
    told: dict[str, str] = {}
    for line in ended.text.splitlines():
        if match := _FACT.search(line):
            told.setdefault(match[1], match[2].strip())
    if "version" not in told or not told.get("met", "").isdecimal():
        return None
    return _Facts(
        met=int(told["met"]),
        standard=told.get("standard", ""),
        file=told.get("file", ""),
        reported=told["version"].replace("\\n", "\n").strip(),
    )
