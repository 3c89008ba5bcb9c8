"""Plans of measurements: what they mean, and what is said of wrong ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from contend.errors import InputError, UsageError
from contend.study import (
    Changes,
    changed,
    copy_plan,
    find_plan,
    is_measured,
    read_measured,
    shipped_plans,
)


def test_cells_are_launches_of_the_grid(plan_file: Path) -> None:
    cells = list(read_measured(plan_file).cells())
    assert [(c.nodes, c.ranks_per_node, c.ranks, c.doubles, c.vector) for c in cells] == [
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


def test_launches_and_libraries_multiply_cells(plan_file: Path) -> None:
    plan = changed(read_measured(plan_file), Changes(libraries=("a", "b"), launches=3))
    assert len(list(plan.cells())) == 6 * 2 * 3
    assert len({cell.file_name for cell in plan.cells()}) == 36


def test_ranks_that_do_not_fill_the_last_node(plan_file: Path) -> None:
    plan = changed(read_measured(plan_file), Changes(ranks=(5,), only=("sweep",)))
    assert [(c.nodes, c.ranks_per_node, c.ranks) for c in plan.cells()] == [(5, 1, 5), (3, 2, 5)]


def test_options_change_what_has_the_key(plan_file: Path) -> None:
    plan = changed(
        read_measured(plan_file),
        Changes(nodes=(3,), numbers=9, bytes=("64",), budget_s=5.0, conditions="off"),
    )
    sort, sweep = plan.measures
    assert (sort.nodes, sort.ranks, sort.numbers, sort.bytes) == ((3,), (), 9, ())
    assert (sweep.nodes, sweep.ranks, sweep.numbers, sweep.sizes()) == ((3,), (), None, (64,))
    assert (plan.budget_s, plan.conditions) == (5.0, "off")


def test_options_that_change_nothing_are_refused(plan_file: Path) -> None:
    plan = read_measured(plan_file)
    with pytest.raises(UsageError, match="no measurement of small has numbers to change"):
        changed(plan, Changes(numbers=9, only=("sweep",)))
    with pytest.raises(UsageError, match="--only: expected one of sort, sweep, got swept"):
        changed(plan, Changes(only=("swept",)))


@pytest.mark.parametrize(
    "changes",
    [
        Changes(precision=2.0),
        Changes(budget_s=0.0),
        Changes(ranks_per_node=(0,)),
        Changes(ranks_per_node=()),
        Changes(repetitions=(9, 6)),
        Changes(wire="fast"),
    ],
)
def test_options_have_the_bounds_of_the_plan(changes: Changes, plan_file: Path) -> None:
    with pytest.raises(InputError, match=r"^small: expected"):
        changed(read_measured(plan_file), changes)


def test_references_of_left_out_measurements_go(plan_file: Path) -> None:
    plan = changed(read_measured(plan_file), Changes(only=("sweep",)))
    assert [known.source for known in plan.known()] == ["2005 LAM"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("nodes = [1, 2]\n", "", "either nodes or ranks in [[measure]] number 1, got none"),
        ("nodes = [1, 2]\n", "nodes = [1]\nranks = [1]\n", "got both"),
        ("nodes = [1, 2]\n", "nodes = [1, 1]\n", "every of the nodes in [[measure]] number 1"),
        ("numbers = 64\ndoubles", "doubles", "a key numbers in [[measure]] number 1, got none"),
        ('algorithms = ["library", "shift"]', "", "a key algorithms in [[measure]] number 2"),
        ("numbers = 64\nd", "numbers = 64\nbytes = [1]\nd", "no key bytes in [[measure]] number 1"),
        ('"8", "8N"', '"8", "8M"', "a vector length m such as 512 or 512N at [[measure]] number 1"),
        ('"8", "8N"', '"8", "8"', "every cell once, got sort.1x2.8.built.flow-control-on.1"),
        ('"1K:4K"', '"4K:1K"', "doubles from at least 1"),
        ('"1Gbit/s"', '"1Gbi/s"', "a rate such as 1Gbit/s or 117 MB/s at wire, got '1Gbi/s'"),
        ("budget_s = 100", "budget_s = 0", "expected float > 0.0 at budget_s"),
        ('name = "sweep"', 'name = "sort"', "every measure once, got sort 2 times"),
        ('measure = "sweep"\nranks', 'measure = "swept"\nranks', "got swept"),
        ('0.25, "ERR"]', "0.25]", "seconds for each of its nodes, in [[reference]] number 1"),
        ('rate = "2 MiB/s"', "", "either a rate, or seconds"),
        ('rate = "2 MiB/s"', 'rate = "fast"', "numbers in [[reference]] number 2"),
        ('["MPI_Alltoall", "own"]', '["MPI_Alltoall"]', "1 algorithms in row 1 of [[table]]"),
        ('probe = "sort"', 'probe = "merge"', "expected a plan, got Invalid enum value 'merge'"),
        ("budget_s = 100", 'node_memory = "much"', "a size such as 24GiB at node_memory, got much"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, complaint: str, plan_file: Path) -> None:
    text = plan_file.read_text()
    assert old in text
    plan_file.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as raised:
        read_measured(plan_file)
    assert complaint in str(raised.value)
    assert str(raised.value).startswith(f"{plan_file}: ")


def test_kinds_of_plans_are_told_apart(plan_file: Path) -> None:
    assert is_measured(plan_file)
    assert not is_measured(find_plan("hoefler2008"))


@pytest.mark.parametrize("name", ["kutzner2005", "mistry2015"])
def test_plans_that_come_with_contend_are_sound(name: str, tmp_path: Path) -> None:
    assert name in shipped_plans()
    (copy,) = copy_plan(name, tmp_path)
    plan = read_measured(copy)
    assert plan.name == name
    assert plan.title
    with pytest.raises(UsageError, match="is there already"):
        copy_plan(name, tmp_path)


def test_the_plan_of_the_guide_is_sound(tmp_path: Path) -> None:
    guide = Path(__file__).parents[3] / "docs" / "study-measured.md"
    (text,) = re.findall(r"```toml\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "our-cluster.toml"
    path.write_text(text)
    plan = read_measured(path)
    assert [measure.name for measure in plan.measures] == ["sweep", "sort", "wire"]
    assert [known.failed for known in plan.known("sort")] == [False, False, True]


def test_a_copy_brings_the_files_that_a_plan_names(tmp_path: Path) -> None:
    written = copy_plan("hoefler2008", tmp_path)
    assert {path.name for path in written} == {
        "hoefler2008.toml",
        "hoefler2008-congested.csv",
        "hoefler2008-free.csv",
    }
    with pytest.raises(UsageError, match=r"--copy: expected one of .*, got nothing"):
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
    found: dict[tuple[str, str | None], tuple[float | None, ...]] = {}
    for known in read_measured(find_plan("mistry2015")).known():
        key = known.source, known.doubles
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
    for known in read_measured(find_plan("kutzner2005")).known():
        if known.rate_Bps is not None and known.placed:
            key = known.ranks, known.ranks_per_node
            found[key] = (*found.get(key, ()), round(known.rate_Bps / 2**20, 1))
    assert found == printed
