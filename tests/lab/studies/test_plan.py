"""Plans: what they mean, and what is said of wrong ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from contend.base.errors import InputError, UsageError
from contend.lab.studies import Application, SimulatedPlan, find_plan, read_plan, shipped_plans
from contend.lab.studies.simulated_plan import ApplicationPart


def test_cells_go_by_fabric_routing_and_pattern(plan_file: Path) -> None:
    cells = [
        (cell.fabric.name, cell.engine, cell.pattern.name) for cell in read_plan(plan_file).cells()
    ]
    assert cells == [
        ("one", "good", "bisect"),
        ("one", "good", "many rounds"),
        ("one", "bad", "bisect"),
        ("one", "bad", "many rounds"),
        ("two", "good", "bisect"),
    ]


def test_a_fabric_with_routes_needs_no_engine(plan_file: Path) -> None:
    text = plan_file.read_text().replace('engines = ["good"]\n', 'routes = "tables"\n')
    plan_file.write_text(text)
    plan = read_plan(plan_file)
    assert plan.engines_of(plan.fabrics[1]) == ("",)


def test_some_fabrics_and_other_samples(plan_file: Path) -> None:
    plan = read_plan(plan_file).changed(only=("two",), samples=9, seed=4)
    assert [cell.fabric.name for cell in plan.cells()] == ["two"]
    assert (plan.samples, plan.seed) == (9, 4)
    assert all(pattern.samples is None for pattern in plan.patterns)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "samples = 3",
            'samples = "3"',
            "expected a whole number from 1 to 1,099,511,627,776 at samples, got '3'",
        ),
        ("samples = 2", "samples = 0", "776 at samples of [[pattern]] number 2, got 0"),
        ('pattern = "tree"', "", "expected a key pattern in [[pattern]] number 2, got none"),
        ("samples = 2", "sample = 2", "only known keys in [[pattern]] number 2, got sample"),
        ('name = "small"', 'nam = "small"', "expected only known keys in the plan, got nam"),
        ('name = "two"', 'name = "one"', "expected every fabric once, got one 2 times"),
        ('["good", "bad"]', '["good", "good"]', "every engine of one once, got good 2 times"),
        (
            'fabrics = ["one"]',
            'fabrics = ["six"]',
            "names of fabrics at fabrics of pattern many rounds, got six",
        ),
        ('engine = "good"', 'engine = "better"', "in [[reference]] number 2, got better"),
        ('pattern = "bisect"\npercent = 40', 'pattern = "x"\npercent = 40', "got x on one"),
        (
            "percent = 40.0",
            "percent = -1.0",
            "a number above 0 to 10,000 at percent of [[reference]] number 1, got -1.0",
        ),
        (
            "of_mean_congestion",
            "of_luck",
            "expected one of effective_bandwidth, of_mean_congestion, of_max_congestion at average",
        ),
        ('["good", "bad"]', '["good", 3]', "a list of texts of at most 4,096 characters"),
        ("samples = 3", "samples = 3\nprecision = 1e-300", "at precision, got 1e-300"),
        ("samples = 3", "samples = 3\nprecision = nan", "at precision, got nan"),
        ("samples = 3", f"samples = {'9' * 4000}", "at samples, got 99999"),
        ("samples = 3", f"samples = {'9' * 5000}", "expected TOML, got a number of thousands"),
        ("samples = 3", f"samples = 0x{'f' * 5000}", "expected TOML, got a number of thousands"),
        ("samples = 3", f"samples = {'[' * 3000}", "expected TOML, got brackets nested too"),
        ('name = "two"', 'name = "t\\u0000o"', "control character at name of [[fabric]] number 2"),
        ('"two.fabric"', '"two\\u0000.fabric"', "at source of [[fabric]] number 2"),
        ('name = "small"', 'name = "/"', "a name that a folder can have"),
        ('name = "small"', 'name = "../../.."', "a name that a folder can have"),
        ('name = "small"', 'name = "a/b"', "a name that a folder can have"),
        ('name = "small"', 'name = " "', "a name that a folder can have"),
        ('name = "small"', 'name = "s\\u0000l"', "control character at name"),
        ("samples = 2", "sampels = 2", "got sampels; did you mean 'samples'?"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(
    old: str, new: str, complaint: str, plan_file: Path
) -> None:
    text = plan_file.read_text()
    assert old in text
    plan_file.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as raised:
        read_plan(plan_file)
    assert complaint in str(raised.value)
    assert str(raised.value).startswith(f"{plan_file}: ")


def test_broken_toml_names_the_line(plan_file: Path) -> None:
    plan_file.write_text('name = "x"\nsamples = = 3\n')
    with pytest.raises(InputError, match=r"small\.toml:2: expected TOML"):
        read_plan(plan_file)
    plan_file.write_bytes(b'name = "\xff"')
    with pytest.raises(InputError, match="UTF-8"):
        read_plan(plan_file)


def test_plans_are_found_by_name_or_path(plan_file: Path) -> None:
    assert find_plan(str(plan_file)) == plan_file
    assert find_plan("hoefler2008").name == "hoefler2008.toml"
    with pytest.raises(UsageError, match="did you mean 'hoefler2008'"):
        find_plan("hoefler2007")
    with pytest.raises(UsageError, match="neither a file"):
        find_plan("a\0b")


@pytest.mark.parametrize(
    "name",
    [name for name in shipped_plans() if isinstance(read_plan(find_plan(name)), SimulatedPlan)],
)
def test_plans_that_come_with_contend_are_sound(name: str) -> None:
    path = find_plan(name)
    plan = read_plan(path)
    files = [p.pattern.removeprefix("file:") for p in plan.patterns if "file:" in p.pattern]
    assert all((path.parent / file).is_file() for file in files)


def test_the_papers_numbers_stand_in_the_plan() -> None:
    plan = read_plan(find_plan("hoefler2008"))
    paper = {
        (r.fabric, r.pattern): r.percent
        for r in plan.references
        if r.source == "paper" and r.average is None
    }
    # Hoefler et al. 2008, sections 3.2.4 and 5.1: Ranger, Atlas, Thunderbird.
    expected = {
        "bisect": (57.6, 55.6, 40.6),
        "dissemination": (41.9, 40.2, 27.4),
        "tree": (69.9, 71.3, 57.4),
        "neighbour:6": (62.4, 60.7, 37.4),
    }
    for pattern, values in expected.items():
        machines = ("ranger", "atlas", "thunderbird")
        assert tuple(paper[machine, pattern] for machine in machines) == values


def test_the_papers_table_of_applications_follows_from_its_own_inputs() -> None:
    plan = read_plan(find_plan("hoefler2008"))
    differences = {}
    for application in plan.applications:
        for printed in application.printed:
            known = {
                r.pattern: r.percent / 100
                for r in plan.references
                if (r.source, r.fabric) == ("paper", printed.fabric)
            }
            difference = 100 * application.run_time(known) - printed.percent
            differences[application.name, printed.fabric] = round(difference, 2)
    # Hoefler et al. 2008, section 5.2: all but two cells; MILC on Atlas comes to 96.74.
    assert len(differences) == 12
    assert {cell: value for cell, value in differences.items() if value} == {
        ("MILC", "atlas"): -0.99,
        ("POP", "ranger"): -0.01,
    }


def test_communication_shrinks_by_the_bandwidth_of_its_pattern() -> None:
    application = Application(
        name="one",
        source="ours",
        ranks=8,
        seconds=10,
        percent=50,
        parts=(
            ApplicationPart("MPI_Bcast", 40, "tree"),
            ApplicationPart("MPI_Send", 20, "ring", run_time_percent=20),
            ApplicationPart("MPI_Wait", 30),
        ),
        rest="ring",
    )
    # 50 % x 40 % is 20 % of the run time; what is left of the 50 % beside 20, 20 and 15 is nothing.
    assert application.shares() == pytest.approx({"tree": 0.2, "ring": 0.2})
    # 1 - 0.2 * (1 - 0.5) - 0.2 * (1 - 0.25); more than full bandwidth saves nothing.
    assert application.run_time({"tree": 0.5, "ring": 0.25}) == pytest.approx(0.75)
    assert application.run_time({"tree": 1.5, "ring": 1.0}) == 1.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ('part = [{routine = "x", percent = 5, pattern = "tre"}]', "patterns of the plan"),
        ('part = [{routine = "x", percent = 5}]\nrest = "ring"', "patterns of the plan"),
        (
            'part = [{routine = "x", percent = 5}]\nprinted = [{fabric = "fig2", percent = 5}]',
            "fabrics of the plan in application a, got fig2; did you mean 'fig1'?",
        ),
    ],
)
def test_applications_name_what_the_plan_has(tmp_path: Path, wrong: str, message: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(
        'name = "n"\n[[fabric]]\nname = "fig1"\nsource = "fig1"\n[[pattern]]\nname = "tree"\n'
        'pattern = "tree"\n[[application]]\nname = "a"\nsource = "s"\nranks = 4\nseconds = 1\n'
        f"percent = 5\n{wrong}\n"
    )
    with pytest.raises(InputError, match=re.escape(message)):
        read_plan(path)
