"""Tries a candidate: compiles the smallest probe, runs it alone and under its likely launchers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from contend.base.errors import ShortfallError
from contend.base.process import Finished, Run, run_process
from contend.lab.mpi.compilation import compile_probe
from contend.lab.mpi.launches import launch_folder, shared_memory_folders
from contend.lab.mpi.search import (
    Candidate,
    Library,
    command_file,
    is_program,
    link_names,
    recognise,
    search_path,
)

_PROBE = "version"
_RANKS = 2
_LIMIT = 30.0
_FACT = re.compile(r"\bcontend (size|met|standard|file|version) ?(.*)")
_LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra")
# Open MPI refuses root, and more ranks than cores, unless told otherwise; 4 and 5 by other names.
_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
_MORE_RANKS_THAN_CORES = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
# What decides which library and which launcher a wrapper leads to.
_SURROUNDINGS = re.compile(r"(PATH|LD_\w+|XDG_CACHE_HOME|(I_)?MPI\w*|(OMPI|OPAL|PMIX|PRTE)_\w+)$")
_usable: dict[object, Library] = {}


@dataclass(frozen=True)
class _Facts:
    """What one run of the probe showed; `met` ranks found each other."""

    met: int
    standard: str
    file: str
    reported: str


def examine(candidate: Candidate, *, run: Run = run_process, limit: float = _LIMIT) -> Library:
    """Whether a candidate is usable, and why not.

    Args:
        candidate: a wrapper, or a place without one.
        run: runs programs.
        limit: seconds that each program may take.

    Raises:
        MissingError: the cache of probes cannot be written.
    """
    library = Library(
        origin=candidate.origin,
        wrapper=str(candidate.wrapper or ""),
        usable=False,
        environment=candidate.environment,
    )
    # Open MPI 5 leaves shared memory and a folder where nobody launched it, others when killed.
    with launch_folder() as folder:
        own = {
            **shared_memory_folders(folder),
            **_without_ours(candidate.environment),
            "TMPDIR": str(folder),
        }
        candidate = replace(candidate, environment=own)
        try:
            program, alone = _compile_and_run(candidate, run, limit)
        except ShortfallError as error:
            return replace(library, why=str(error))
        facts = _facts(alone)
        if facts is not None:
            library = _described(library, facts)
        else:
            library = replace(library, notes=(f"a probe without a launcher fails: {alone.why()}",))
        return _launch(library, candidate, program, run, limit)


def examine_once(candidate: Candidate, *, run: Run = run_process) -> Library:
    """As `examine`, which takes a second; what was usable is not tried again by this process.

    A wrapper that was replaced since is tried again, and so is one in other surroundings.
    """
    if candidate.wrapper is None or not candidate.wrapper.exists():
        return examine(candidate, run=run)
    environment = candidate.environment
    surroundings = {key: environment[key] for key in environment if _SURROUNDINGS.match(key)}
    made = candidate.wrapper.stat().st_mtime_ns
    key = (run, candidate.origin, candidate.wrapper, made, frozenset(surroundings.items()))
    library = _usable.get(key)
    if library is None:
        library = examine(candidate, run=run)
        if library.usable:
            _usable[key] = library
    return replace(library, environment=environment)


def _compile_and_run(candidate: Candidate, run: Run, limit: float) -> tuple[Path, Finished]:
    """The probe, and how it ended by itself; compiled again when an older one does not run."""
    environment = candidate.environment
    program = compile_probe(_PROBE, candidate, "", run, limit)
    alone = run([str(program)], environment, limit)
    if _facts(alone) is None:
        # It may stem from a library that has since been replaced.
        program = compile_probe(_PROBE, candidate, "", run, limit, anew=True)
        alone = run([str(program)], environment, limit)
    return program, alone


def _launch(
    library: Library, candidate: Candidate, program: Path, run: Run, limit: float
) -> Library:
    """Tries one launcher after the other until the ranks of one find each other."""
    faults: list[str] = []
    environment = candidate.environment
    for launcher in launchers(candidate):
        ended = run([str(launcher), "-n", str(_RANKS), str(program)], environment, limit)
        facts = _facts(ended)
        fault = _fault(launcher, library, facts, ended, limit)
        if not fault and facts is not None:
            library = library if library.reported else _described(library, facts)
            notes = (*library.notes, *faults)
            return replace(
                library, usable=True, launcher=str(launcher), size=facts.met, notes=notes
            )
        if facts is not None and not library.size:
            library = replace(library, size=facts.met)
        faults.append(fault)
    if faults:
        # The first launcher is the likeliest to belong here; why others fail too helps nobody.
        return replace(library, why=faults[0])
    why = "no launcher: neither mpirun nor mpiexec beside the wrapper or on PATH"
    return replace(library, why=why)


def _fault(
    launcher: Path,
    library: Library,
    facts: _Facts | None,
    ended: Finished,
    limit: float,
) -> str:
    """What is wrong with a run under a launcher; "" when nothing is."""
    if ended.status is None:
        return f"{launcher}: {_RANKS} ranks did not end within {limit:g} s"
    if facts is None:
        return f"{launcher} fails: {ended.why()}"
    # By name and version: a terminal passes on 2,048 bytes at a time, so that under a launcher the
    # end of a long text can lie behind what another rank writes.
    name, version = recognise(facts.reported)
    if library.reported and (name, version) != (library.name, library.version):
        return f"{launcher} makes the probe load another library, {name} {version}".rstrip()
    if facts.met != _RANKS:
        return (
            f"{launcher} belongs to another library: its {_RANKS} ranks do not see each other "
            f"(size {facts.met})"
        )
    return ""


def _described(library: Library, facts: _Facts) -> Library:
    name, version = recognise(facts.reported)
    return replace(
        library,
        name=name,
        version=version,
        standard=facts.standard,
        reported=facts.reported,
        file=facts.file,
    )


def _facts(ended: Finished) -> _Facts | None:
    """What the probe wrote of itself; None when it failed or wrote nothing."""
    if ended.status != 0:
        return None
    facts: dict[str, str] = {}
    for line in ended.text.splitlines():
        if match := _FACT.search(line):
            facts.setdefault(match[1], match[2].strip())
    if "version" not in facts or not facts.get("met", "").isdecimal():
        return None
    return _Facts(
        met=int(facts["met"]),
        standard=facts.get("standard", ""),
        file=facts.get("file", ""),
        reported=facts["version"].replace("\\n", "\n").strip(),
    )


def launchers(candidate: Candidate) -> list[Path]:
    """Launchers to try for a candidate, the likeliest first, each program once.

    Those beside the wrapper come first, and among them those that share its ending, as
    ``mpicc.mpich`` and ``mpirun.mpich`` do; then what PATH has.
    """
    by_file: dict[Path, Path] = {}
    for path in _launcher_paths(candidate):
        if is_program(path):
            # Two names of one launcher act alike, so here all links are followed.
            by_file.setdefault(path.resolve(), path)
    return list(by_file.values())


def _without_ours(environment: Mapping[str, str]) -> dict[str, str]:
    """A launcher's environment without what another command of contend's has preloaded."""
    ours = ("CONTEND_PROFILE", "CONTEND_TUNED")
    emptied = (*ours, "LD_PRELOAD") if any(name in environment for name in ours) else ()
    # Empty, not away: lists of variables that launchers pass on may name them.
    return {**launch_environment(environment), **dict.fromkeys(emptied, "")}


def launch_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment in which a launcher takes root and more ranks than cores for granted.

    What the user has set stays.
    """
    settings = dict(_MORE_RANKS_THAN_CORES)
    if os.geteuid() == 0:
        settings |= _AS_ROOT
    return {**settings, **environment}


def _launcher_paths(candidate: Candidate) -> Iterator[Path]:
    if candidate.wrapper is not None:
        names = list(link_names(candidate.wrapper))
        for name in reversed(names):
            if name.suffix and name.stem == "mpicc":
                yield from (name.parent / f"{launcher}{name.suffix}" for launcher in _LAUNCHERS)
        for folder in dict.fromkeys([names[0].parent, command_file(names[0]).parent]):
            yield from (folder / launcher for launcher in _LAUNCHERS)
    for folder in search_path(candidate.environment):
        yield from (folder / launcher for launcher in _LAUNCHERS)
