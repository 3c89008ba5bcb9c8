"""Places that cannot be written, from the start or from some sample on."""

from __future__ import annotations

from pathlib import Path

from contend.lab.runs import read_samples
from probe_programs import Mpi


def test_place_that_cannot_be_written(openmpi: Mpi, trial: Path) -> None:
    for path, why in [
        ("/nowhere/x.samples", "No such file or directory"),
        ("/dev/full", "No space left on device"),
    ]:
        ended = openmpi.run(2, trial, "--output", path)
        assert ended.status == 3
        assert ended.said() == [f"contend-trial: {path}: cannot be written: {why}"]


def test_full_disk_keeps_the_samples_so_far(openmpi: Mpi, trial: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.samples"
    folder = tmp_path / "small"
    folder.mkdir()
    # A file system of four pages, seen by this run alone, which keeps its exit status.
    script = (
        f"mount -t tmpfs -o size=16k none {folder} && "
        f'{{ "$@"; status=$?; cp {folder}/x.samples {kept}; exit $status; }}'
    )
    within = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    arguments = ["--repetitions", "5000:5000", "--output", folder / "x.samples"]
    ended = openmpi.run(
        2,
        trial,
        *arguments,
        environment={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        within=within,
    )
    assert ended.status == 3
    why = f"{folder}/x.samples: cannot be written: No space left on device"
    assert ended.said() == [f"contend-trial: {why}"]
    raw = read_samples(kept)
    # Cut back to the last whole sample: each of two ranks takes less than 100 bytes.
    assert raw.torn == 0
    assert 16384 - 100 < kept.stat().st_size <= 16384
    assert raw.frame["repetition"].max() > 100
    assert not raw.done
