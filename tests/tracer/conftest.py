"""Real programs, run with the recorder preloaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from contend.base.process import run_process
from contend.lab.mpi import Candidate, Preload, compile_preload
from contend.profiling import ProgramProfile, merge
from contend.profiling.folder import RECORDS, ProfileRecord, write_profile_record
from probe_programs import Build, Ended, Mpi, builder, library
from rank_records import RankRecord, read_records

PROGRAMS = Path(__file__).parent / "programs"
# As the loader leaves a rank whose host does not see the library.
WITHOUT = """\
#!/bin/sh
case " $WITHOUT " in
  *" ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} "*) unset LD_PRELOAD ;;
esac
exec "$@"
"""


def tracer_of(mpi: Mpi) -> Path:
    """The recorder for a library, compiled once for all tests."""
    found = library(mpi.wrapper)
    candidate = Candidate(found.origin, Path(found.wrapper), environment=found.environment)
    return compile_preload(Preload.RECORDER, candidate, found.reported, run_process, 300.0)


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    return builder(PROGRAMS, tmp_path_factory.mktemp("programs"))


@dataclass(frozen=True)
class Recorded:
    """A run that was recorded."""

    ended: Ended
    """How it ended."""
    records: list[RankRecord] = field(repr=False)
    """What its ranks left."""
    folder: Path
    """Folder of the records."""

    def profile(self, folder: Path, *words: str) -> ProgramProfile:
        """What is told of the run of a command, in a new folder."""
        folder.mkdir()
        self.folder.rename(folder / RECORDS)
        write_profile_record(folder, ProfileRecord(words, status=self.ended.status))
        merge(folder)
        return ProgramProfile.load(folder)


Run = Callable[..., Recorded]


@pytest.fixture
def run_recorded(tmp_path: Path) -> Run:
    """`run_recorded(mpi, ranks, program, ...)` runs a program with the recorder preloaded."""

    def run(
        mpi: Mpi,
        ranks: int,
        program: Path,
        *arguments: object,
        before: Path | None = None,
        environment: Mapping[str, str] | None = None,
        tracer: Path | None = None,
    ) -> Recorded:
        folder = tmp_path / "records"
        folder.mkdir(exist_ok=True)
        first = [str(before)] if before else []
        variables = {
            "CONTEND_PROFILE": str(folder),
            "LD_PRELOAD": ":".join([*first, str(tracer or tracer_of(mpi))]),
            **(environment or {}),
        }
        ended = mpi.run(ranks, program, *arguments, environment=variables)
        return Recorded(ended, read_records(folder), folder)

    return run


@pytest.fixture
def without(tmp_path: Path) -> Path:
    """What starts a program whose ranks, those in `WITHOUT`, go without the recorder."""
    script = tmp_path / "without.sh"
    script.write_text(WITHOUT)
    script.chmod(0o755)
    return script
