"""What a launch may leave on this machine, and what of it is removed."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from contend.lab.mpi import Launch, Library, launch_folder, prepare, remove_left
from contend.lab.mpi import launches as launches_module


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for the place of shared memory; temporary files have one of their own."""
    (folder := tmp_path / "memory").mkdir()
    (temporary := tmp_path / "scratch").mkdir()
    monkeypatch.setattr(launches_module, "_SHARED_MEMORY", folder)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    return folder


def test_what_ranks_share_goes_with_the_launch(memory: Path) -> None:
    """Open MPI and UCX are told where to put it, and MPICH's own place is looked through."""
    temporary = memory.parent / "scratch"
    with launch_folder() as folder:
        request = Launch(Library("PATH", "", usable=True, launcher="/bin/true"), 2)
        _, _, environment = prepare(request, folder)
        names = ("OMPI_MCA_btl_sm_backing_directory", "PRTE_MCA_prte_tmpdir_base", "UCX_POSIX_DIR")
        for name in names:
            place = Path(environment[name])
            assert stat.S_IMODE(place.stat().st_mode) == 0o700
            assert place.parent in (memory, temporary)
            (place / "segment").touch()
        assert Path(environment["UCX_POSIX_DIR"]).parent == memory
        (memory / "mpich_shar_tmpa1B2c3").touch()
        (kept := memory / "vader_segment.of.another").touch()
        with (held := memory / "mpich_shar_tmpinuse").open("wb"):
            launches_module._remove_segments(time.time() - 60)
            assert held.exists()
            assert not (memory / "mpich_shar_tmpa1B2c3").exists()
    assert list(memory.iterdir()) == [kept]
    assert list(temporary.iterdir()) == []


def test_a_segment_that_was_there_before_stays(memory: Path) -> None:
    (other := memory / "mpich_shar_tmpothers").touch()
    began = other.stat().st_ctime
    while time.time() < began + 1.5 * launches_module._TICK:
        os.utime(memory)
    with launch_folder():
        pass
    assert other.exists()


@pytest.mark.parametrize("launches", [True, False])
def test_a_launch_that_was_killed_is_cleared_away_by_the_next(launches: bool, memory: Path) -> None:
    for root in (memory, memory.parent / "scratch"):
        (root / "contend-launch-1-abcdef" / "ompi").mkdir(parents=True)
    (memory / "mpich_shar_tmpa1B2c3").touch()
    if launches:
        with launch_folder():
            assert len(list(memory.iterdir())) == 1
    else:
        remove_left()
    assert list(memory.iterdir()) == []
    assert list((memory.parent / "scratch").iterdir()) == []
