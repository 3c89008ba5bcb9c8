"""Merges what ranks left into profiles: one for each program, and the records go last.

A program's tables are written first and its ``profile.json`` after them, and only then do the
records go. So an interrupted merge begins anew, and what it had written is written again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from contend.base.errors import ShortfallError
from contend.base.process import Run, run_process
from contend.profiling.folder import (
    PROFILE,
    RECORDS,
    OtherProgram,
    ProfileRecord,
    beside,
    is_profile,
    read_profile_record,
    read_seen,
    record_files,
    write_profile_record,
)
from contend.profiling.gathering import Gathering, Progress
from contend.profiling.programs import (
    LeftRecords,
    RecordedProgram,
    not_recorded,
    nothing,
    plan,
    read_programs,
    until_the_end,
)


def merge(
    folder: Path, *, run: Run = run_process, progress: Progress = lambda done, total: None
) -> ProfileRecord:
    """Merges the records in a profile's folder, and removes them when that is on the disk.

    Of several programs the first one's profile is that of the folder; those of the others come
    beside it, and are done first, so that one that is merged tells that all are. A folder that is
    merged already only loses records that an interrupted merge has left.

    Args:
        folder: of the profile.
        run: runs binutils.
        progress: is told how many of how many records are read.

    Returns:
        What ``profile.json`` of the first program has.

    Raises:
        UsageError: no profile is there.
        ShortfallError: no rank left a record that can be read.
        OSError: the disk is full; everything is as it was.
    """
    record = read_profile_record(folder)
    paths = record_files(folder)
    if not record.merged:
        left = LeftRecords()
        programs = read_programs(paths, left)
        if not programs:
            raise ShortfallError(nothing(folder, left))
        left.warnings += not_recorded(folder / RECORDS, programs)
        record = _planned(folder, record, programs)
        names = {other.launch: other for other in record.others}
        firsts = [program for program in programs if program.launch not in names]
        if not firsts:
            raise ShortfallError(nothing(folder, left))
        for program in programs:
            if program.launch in names:
                _merge_beside(folder, record, names[program.launch], program, left, run, progress)
        for program in firsts[1:]:
            for rank in program.ranks.values():
                left.add(rank.path, "another-program", f"{rank.path} came after the others")
        record = _merge_program(folder, record, firsts[0], record.others, left, run, progress)
    for path in paths:
        if path.name not in record.left:
            path.unlink(missing_ok=True)
    if not record_files(folder) and (folder / RECORDS).is_dir():
        # What else is there is the recorder, and what its ranks told each other.
        shutil.rmtree(folder / RECORDS)
    return record


def _planned(
    folder: Path, record: ProfileRecord, programs: Sequence[RecordedProgram]
) -> ProfileRecord:
    """The record with the folders of other programs, which an interrupted merge finds again."""
    if record.others or len(programs) == 1:
        return record
    origin, others = plan(folder, programs)
    record = msgspec.structs.replace(record, origin=origin, others=others)
    write_profile_record(folder, record)
    return record


def _merge_beside(
    folder: Path,
    record: ProfileRecord,
    other: OtherProgram,
    program: RecordedProgram,
    left: LeftRecords,
    run: Run,
    progress: Progress,
) -> None:
    """Merges a program that is not the first, if that is not done, and removes its records."""
    target, own = beside(folder, other.folder), LeftRecords()
    if not (is_profile(target) and read_profile_record(target).merged):
        target.mkdir(exist_ok=True)
        known = msgspec.structs.replace(record, origin=other.origin, others=())
        try:
            _merge_program(target, known, program, record.others, own, run, progress)
        except ShortfallError:
            left.warnings += own.warnings
        left.names += own.names
    for rank in program.ranks.values():
        if rank.path.name not in left.names:
            rank.path.unlink(missing_ok=True)


def _merge_program(
    folder: Path,
    record: ProfileRecord,
    program: RecordedProgram,
    others: Sequence[OtherProgram],
    left: LeftRecords,
    run: Run,
    progress: Progress,
) -> ProfileRecord:
    """Merges one program's records into a folder's profile."""
    seen_unix = record.ended_unix
    if not until_the_end(program, others):
        record = msgspec.structs.replace(record, ended_unix=None)
        seen_unix = None
    elif seen_unix is None:
        [records] = {rank.path.parent for rank in program.ranks.values()}
        seen_unix = read_seen(records)
    record = Gathering(folder, record, seen_unix, dict(program.ranks), left, progress).whole(run)
    # The tables are on the disk before the file that says so, and that before records go.
    _make_lasting(folder, [path for path in folder.iterdir() if path.suffix != ".json"])
    write_profile_record(folder, record)
    _make_lasting(folder, [folder / PROFILE])
    return record


def _make_lasting(folder: Path, paths: Iterable[Path]) -> None:
    for path in (*paths, folder):
        if path.is_file() or path.is_dir():
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
