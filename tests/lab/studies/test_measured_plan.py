"""Plans of measurements: what they mean, and what is said of wrong ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from contend.base.errors import InputError, UsageError
from contend.lab.studies import copy_plan, find_plan, read_plan, shipped_plans


def test_cells_are_places_of_the_grid(grid_file: Path) -> None:
    cells = list(read_plan(grid_file).cells())
    told = [(c.hosts, c.ranks_per_host, c.ranks, c.length, c.vector) for c in cells]
    assert [(*where, None if m is None else str(m), vector) for *where, m, vector in told] == [
        (1, 2, 2, "8", 8),
        (1, 2, 2, "8N", 8),
        (2, 2, 4, "8", 8),
        (2, 2, 4, "8N", 16),
        (4, 1, 4, None, None),
        (2, 2, 4, None, None),
    ]
    assert cells[4].points() == [
        (algorithm, size) for algorithm in ("library", "shift") for size in (16, 1024, 2048, 4096)
    ]
    assert cells[0].points() == [(None, None)]


def test_libraries_multiply_cells(grid_file: Path) -> None:
    plan = read_plan(grid_file).changed(mpi=("a", "b"), launches=3)
    assert len(list(plan.cells())) == 6 * 2
    assert len({cell.label for cell in plan.cells()}) == 12


def test_ranks_that_do_not_fill_the_last_node(grid_file: Path) -> None:
    plan = read_plan(grid_file).changed(ranks=(5,), only=("sweep",))
    assert [(c.hosts, c.ranks_per_host, c.ranks) for c in plan.cells()] == [(5, 1, 5), (3, 2, 5)]


def test_options_change_what_has_the_key(grid_file: Path) -> None:
    plan = read_plan(grid_file).changed(
        hosts=(3,), vectors=9, bytes=("64",), budget_s=5.0, label=("flow control=off", "quiet")
    )
    sort, sweep = plan.measures
    assert (sort.hosts, sort.ranks, sort.vectors, sort.bytes) == ((3,), (), 9, ())
    assert (sweep.hosts, sweep.ranks, sweep.vectors, sweep.bytes) == ((3,), (), None, (64,))
    assert plan.budget_s == 5.0
    assert plan.labels == {"flow control": "off", "quiet": ""}
    assert plan.conditions == "flow control off, quiet"


def test_options_that_change_nothing_are_refused(grid_file: Path) -> None:
    plan = read_plan(grid_file)
    with pytest.raises(UsageError, match="no measurement of small takes it"):
        plan.changed(vectors=9, only=("sweep",))
    with pytest.raises(UsageError, match="expected one of sort, sweep, got swept; did you mean"):
        plan.changed(only=("swept",))


@pytest.mark.parametrize("changes", [{"repetitions": (9, 6)}, {"wire": "fast"}, {"memory": "x"}])
def test_changes_must_fit_together(changes: dict[str, Any], grid_file: Path) -> None:
    with pytest.raises(InputError, match=r"^small: expected"):
        read_plan(grid_file).changed(**changes)


def test_references_of_left_out_measurements_go(grid_file: Path) -> None:
    plan = read_plan(grid_file).changed(only=("sweep",))
    assert [known.source for known in plan.known()] == ["2005 LAM"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("hosts = [1, 2]\n", "", "either hosts or ranks in [[measure]] number 1, got none"),
        ("hosts = [1, 2]\n", "hosts = [1]\nranks = [1]\n", "got both"),
        ("hosts = [1, 2]\n", "hosts = [1, 1]\n", "every number of hosts in [[measure]] number 1"),
        ("hosts = [1, 2]\n", "hosts = [0]\n", "at hosts of [[measure]] number 1, got [0]"),
        ("vectors = 64\nlength", "length", "a key vectors in [[measure]] number 1, got none"),
        ('algorithm = ["library", "shift"]', "", "a key algorithm in [[measure]] number 2"),
        ("vectors = 64\nl", "vectors = 64\nbytes = [1]\nl", "no key bytes in [[measure]] number 1"),
        (
            '"8", "8N"',
            '"8", "8M"',
            "512 or 512N at length of [[measure]] number 1",
        ),
        (
            '"8", "8N"',
            '"8", "8"',
            "every length in [[measure]] number 1 once, got 8 2 times",
        ),
        ('"1K:4K"', '"4K:1K"', "doubles from at least 1"),
        ('"1Gbit/s"', '"1Gbi/s"', "at wire, got '1Gbi/s'"),
        ("budget_s = 100", "budget_s = 0", "above 0 and below 1,000,000,000 at budget_s"),
        ('name = "sweep"', 'name = "sort"', "every measure once, got sort 2 times"),
        ('measure = "sweep"\nranks', 'measure = "swept"\nranks', "got swept"),
        ('0.25, "ERR"]', "0.25]", "3 numbers of hosts at [[reference]] number 1, got 2"),
        ('0.25, "ERR"]', '0.25, "BAD"]', "at seconds of [[reference]] number 1"),
        ('rate = "2 MiB/s"', "", "either seconds or a rate at [[reference]] number 2, got neither"),
        ('rate = "2 MiB/s"', 'rate = "fast"', "at rate of [[reference]] number 2, got 'fast'"),
        ('["MPI_Alltoall", "own"]', '["MPI_Alltoall"]', "1 algorithms in row 1 of [[table]]"),
        (
            'bytes = "1K"\nalgorithms',
            'bytes = "x"\nalgorithms',
            "at bytes of [[row]] number 1 of [[table]] number 1",
        ),
        ('probe = "sort"', 'probe = "merge"', "expected one of alltoall, pingpong, sort at probe"),
        ("budget_s = 100", 'memory = "much"', "at memory, got 'much'"),
        ("budget_s = 100", "launches = 20000", "at launches, got 20000"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, complaint: str, grid_file: Path) -> None:
    text = grid_file.read_text()
    assert old in text
    grid_file.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as raised:
        read_plan(grid_file)
    assert complaint in str(raised.value)
    assert str(raised.value).startswith(f"{grid_file}: ")


def test_kinds_of_plans_are_told_apart(grid_file: Path) -> None:
    assert read_plan(grid_file).kind == "measured"
    assert read_plan(find_plan("hoefler2008")).kind == "simulated"
    grid_file.write_text('name = "none"')
    with pytest.raises(InputError, match=r"expected \[\[measure\]\] or \[\[case\]\] tables"):
        read_plan(grid_file)


@pytest.mark.parametrize("name", ["kutzner2005", "mistry2015"])
def test_plans_that_come_with_contend_are_sound(name: str, tmp_path: Path) -> None:
    assert name in shipped_plans()
    (copy,) = copy_plan(name, tmp_path)
    plan = read_plan(copy)
    assert plan.name == name
    assert plan.title
    with pytest.raises(UsageError, match="exists already"):
        copy_plan(name, tmp_path)


def test_the_plan_of_the_guide_is_sound(tmp_path: Path) -> None:
    guide = Path(__file__).parents[3] / "docs" / "reference" / "study-measured.md"
    (text,) = re.findall(r"```toml\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "our-cluster.toml"
    path.write_text(text)
    plan = read_plan(path)
    assert [measure.name for measure in plan.measures] == ["sweep", "sort", "wire"]
    assert [known.failed for known in plan.known("sort")] == [False, False, True]


def test_a_copy_brings_the_files_that_a_plan_names(tmp_path: Path) -> None:
    written = copy_plan("hoefler2008", tmp_path)
    assert {path.name for path in written} == {
        "hoefler2008.toml",
        "hoefler2008-congested.csv",
        "hoefler2008-free.csv",
    }
    with pytest.raises(UsageError, match=r"expected one of .*, got nothing"):
        copy_plan("nothing", tmp_path)


def test_the_published_times_stand_in_the_plan() -> None:
    """Tables 3 and 5 of the paper, and the poster's, as printed."""
    printed = {
        ("paper", "512"): (1.14, 0.57, 0.25, 0.15, 0.11),
        ("paper", "512N"): (1.14, 1.64, 2.09, 2.28, 2.30),
        ("poster", "512N"): (0.60, 1.64, 2.09, 2.28, 2.30),
        ("poster", "800N"): (1.79, 3.05, 3.73, 5.01, 6.73),
        ("poster", "810N"): (1.80, 2.83, 3.30, 5.54, None),
        ("poster", "1024N"): (85.00, 170.62, None, None, None),
    }
    found: dict[tuple[str, str], tuple[float | None, ...]] = {}
    for known in read_plan(find_plan("mistry2015")).known():
        key = known.source, str(known.length)
        assert known.failed == (known.seconds is None)
        found[key] = (*found.get(key, ()), known.seconds)
    assert found == printed


def test_the_published_rates_stand_in_the_plan() -> None:
    """Tables 1 and 2 of the message: MPI_Alltoall and the own all-to-all, LAM then Open MPI."""
    printed = {
        (4, 1): (68.2, 69.6, 64.0, 64.0),
        (4, 2): (48.9, 45.3, 48.7, 37.4),
        (32, 1): (20.9, 2.8, 18.2, 1.3),
        (32, 2): (14.3, 5.0, 14.3, 2.7),
    }
    found: dict[tuple[int | None, int | None], tuple[float, ...]] = {}
    for known in read_plan(find_plan("kutzner2005")).known():
        if known.rate_Bps is not None and known.placed:
            key = known.ranks, known.ranks_per_host
            found[key] = (*found.get(key, ()), round(known.rate_Bps / 2**20, 1))
    assert found == printed
