"""The front door: what to explain, where it is, and what is known of the network that it ran on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from contend.base.errors import InputError, UsageError
from contend.base.schema import PythonOnly, Shown
from contend.base.units import parse_rate, parse_size, valued
from contend.explanation.advice import remedies
from contend.explanation.evidence import Evidence
from contend.explanation.judging import Verdict, compare, judge
from contend.explanation.measured import Source
from contend.explanation.nccl_evidence import NcclSource, slow_pairs, stopped, too_fast
from contend.explanation.nccl_tests import NcclTest, read_nccl_tests
from contend.explanation.profile_advice import profile_remedies
from contend.explanation.profiled import ProfileSource
from contend.explanation.published import published_evidence
from contend.explanation.remedies import Remedy, by_saving
from contend.fabric import Fabric
from contend.lab.emulation import emulated_fabric, was_emulated
from contend.lab.measurement import STANDARD
from contend.lab.runs import Run, find_runs, has_runs
from contend.lab.studies import MeasuredPlan, find_plan, read_plan, shipped_plans
from contend.prediction import Calibration, load_calibration
from contend.profiling import ProfileFindings, ProgramProfile, is_profile, load_profile
from contend.routes import load

_EMULATED = "emulated:"


@dataclass(frozen=True)
class Explanation(Shown, told="explanation_document"):
    """Which limits the cells of a run or a study, or a profiled program, hit."""

    name: str
    """Name of the run, the study or the profile."""
    cells: tuple[Verdict, ...]
    """Verdicts on every cell; of a program on its run, its communication, and places in it."""
    remedies: tuple[Remedy, ...]
    """Remedies of every limit that was hit."""
    findings: tuple[str, ...] = ()
    """What tests of GPUs show by themselves, the first of which leads the verdict: a slow server,
    bounds that cannot be theirs, sizes that fall out of line."""
    remarks: tuple[str, ...] = ()
    """What could not be known, and what would tell it."""
    stuck: PythonOnly[ProfileFindings | None] = None
    """Of a program that hung, stood still or ended early, where its ranks were."""


def explain(
    what: Run | ProgramProfile | Path | str,
    *,
    fabric: Fabric | str | None = None,
    routes: str | None = None,
    route: str | None = None,
    wire: float | str | None = None,
    memory: int | str | None = None,
    calibration: Path | str | None = None,
) -> Explanation:
    """Says which limits a measurement hit, or that none can be proven; see `Limit`.

    Args:
        what: a run, a folder of runs, a profile or its folder, the output of nccl-tests or a
            folder of such, the name of one of contend's studies, or a file of a plan: of these two
            the published figures are explained.
        fabric: that it ran on, with its routes; None for what the run knows of an emulated one.
        routes: a file of its forwarding tables.
        route: an engine that computes them.
        wire: what a host's port carries, in bytes per second or such as ``1Gbit/s``; None for what
            is known.
        memory: of a host, in bytes or such as ``24GiB``; None for what is known. Not of profiles.
        calibration: of a profile: the file or folder of what messages cost where it was recorded.

    Raises:
        UsageError: no run, profile or plan is there, or the fabric has not the hosts.
        InputError: a file of the run, the plan or the fabric is damaged.
    """
    rate, size = valued(wire, parse_rate), valued(memory, parse_size)
    profile = _profile_of(what)
    if calibration is not None and profile is None:
        raise UsageError("a calibration explains profiles only: leave it out")
    tests = _tests_of(what) if profile is None else []
    if not isinstance(what, Run | ProgramProfile):
        path = Path(what)
        if not path.is_dir() and (path.suffix == ".toml" or str(what) in shipped_plans()):
            if fabric is not None or routes is not None or route is not None:
                raise UsageError("published figures say nothing about hosts: leave the fabric out")
            return _explain_plan(str(what), rate, size)
    given = fabric
    if isinstance(given, str):
        given = load(given, routes=routes, route=route, need_routes=True)
    elif given is None and (routes is not None or route is not None):
        raise UsageError("routes belong to a fabric: name it with --fabric")
    if profile is not None:
        if memory is not None:
            raise UsageError("a profile says nothing about memory: leave it out")
        costs = None if calibration is None else load_calibration(Path(calibration))
        return _explain_profile(profile, given, rate, costs)
    assert not isinstance(what, ProgramProfile)
    if tests:
        if memory is not None:
            raise UsageError("nccl-tests say nothing about memory: leave it out")
        return _explain_tests(str(what), tests, given, rate)
    if not isinstance(what, Run) and Path(what).is_file():
        with Path(what).open("rb") as file:
            begins = file.readline(200).decode("utf-8", "replace").strip()[:60]
        expected = (
            "what contend measure or profile wrote, a plan, or output of nccl-tests with times"
        )
        got = f"a file without them, which begins with {begins!r}" if begins else "an empty file"
        raise InputError(str(what), 0, expected, got)
    runs = [what] if isinstance(what, Run) else [Run.load(f) for f in find_runs(Path(what))]
    for run in runs:
        if run.record.probe not in STANDARD:
            raise UsageError(
                f"{run.folder}: expected a measured run, got one of {run.record.probe}"
            )
    remarks: list[str] = []
    sources = [_source(run, given, rate, size, remarks) for run in runs]
    evidence = [cell for source in sources for cell in source.evidence()]
    unknown = [run for run in runs if run.record.wire_Bps is None and rate is None]
    if any(cell.hosts > 1 for run in unknown for cell in run.record.cells):
        remarks.append("The rate of the hosts' ports is not known: give it with --wire.")
    name = what.name if isinstance(what, Run) else Path(what).resolve().name
    return _explained(name, evidence, tuple(sources), tuple(dict.fromkeys(remarks)))


def _tests_of(what: Run | ProgramProfile | Path | str) -> list[NcclTest]:
    """The tests of GPUs in a file, or in the files of a folder that holds no runs."""
    if isinstance(what, Run | ProgramProfile) or str(what) in shipped_plans():
        return []
    path = Path(what)
    if path.is_dir():
        if has_runs(path):
            return []
        files = sorted(file for file in path.iterdir() if file.is_file())
    else:
        files = [path] if path.is_file() and path.suffix != ".toml" else []
    tests = [test for file in files for test in read_nccl_tests(file) or ()]
    return tests if any(test.sizes for test in tests) else []


def _explain_tests(
    name: str, tests: list[NcclTest], fabric: Fabric | None, wire: float | None
) -> Explanation:
    remarks: list[str] = []
    source = NcclSource(name, tests, fabric, wire, remarks)
    cells = compare(list(source.evidence()))
    beaten = too_fast(cells)
    found = (*slow_pairs(tests), *stopped(tests), *beaten.values(), *source.odd_sizes())
    verdicts = tuple(judge(cell, network=cell.series not in beaten) for cell in cells)
    advised = by_saving(source.remedies(verdicts))
    # Tests of the same servers repeat what is to be told of them.
    findings, rest = (tuple(dict.fromkeys(lines)) for lines in (found, remarks))
    return Explanation(Path(name).name, verdicts, advised, findings, rest)


def _profile_of(what: Run | ProgramProfile | Path | str) -> ProgramProfile | None:
    if isinstance(what, ProgramProfile):
        return what
    if isinstance(what, Run) or not is_profile(Path(what)):
        return None
    return load_profile(Path(what))


def _explain_profile(
    profile: ProgramProfile, given: Fabric | None, wire: float | None, costs: Calibration | None
) -> Explanation:
    asked, remarks = profile.record.asked, list[str]()
    fabric = _fabric_of(profile.name, asked, asked.get("fabric", ""), given, remarks)
    source = ProfileSource(profile, fabric, wire, costs, remarks)
    judged = [judge(evidence) for evidence in source.evidence()]
    # The run and its communication are told whatever comes of them, places where one tells more.
    verdicts = (*judged[:2], *(verdict for verdict in judged[2:] if verdict.limits))
    return Explanation(
        profile.name,
        verdicts,
        profile_remedies(verdicts, source),
        remarks=(*remarks, *source.unknown()),
        stuck=profile.findings if source.stood_still or source.ended_early else None,
    )


def _explain_plan(name: str, wire: float | None, memory: int | None) -> Explanation:
    plan = read_plan(find_plan(name))
    if not isinstance(plan, MeasuredPlan):
        raise UsageError(
            f"{plan.name}: expected a study that measures; this one simulates or verifies"
        )
    evidence = list(published_evidence(plan, wire, memory))
    return _explained(plan.name, evidence, ())


def _explained(
    name: str,
    evidence: list[Evidence],
    sources: tuple[Source, ...],
    remarks: tuple[str, ...] = (),
) -> Explanation:
    cells = compare(evidence)
    # Published figures stand in the order of their tables.
    verdicts = tuple(judge(cell) for cell in (_in_order(cells) if sources else cells))
    return Explanation(name, verdicts, remedies(name, verdicts, sources), remarks=remarks)


def _in_order(cells: list[Evidence]) -> list[Evidence]:
    """Cells by their series, those of a series by size; runs have them in the order of chance."""
    first: dict[object, int] = {}
    for cell in cells:
        first.setdefault(cell.condition, len(first))
        first.setdefault((cell.condition, cell.schedule), len(first))
    return sorted(
        cells,
        key=lambda c: (first[c.condition], first[c.condition, c.schedule], c.bytes or 0),
    )


def _source(
    run: Run, given: Fabric | None, wire: float | None, memory: int | None, remarks: list[str]
) -> Source:
    """A run with its fabric: the one that is given, or a generated one that was emulated."""
    place = run.record.placement
    emulated = place.startswith(_EMULATED)
    name = place.removeprefix(_EMULATED) if emulated else ""
    fabric = _fabric_of(run.name, Source(run).place, name, given, remarks)
    return Source(run, fabric, wire, memory)


def _fabric_of(
    what: str, asked: dict[str, str], emulated: str, given: Fabric | None, remarks: list[str]
) -> Fabric | None:
    """The fabric that is given, or a generated one that was emulated; none of hashed routes.

    Args:
        what: name of the run or the profile.
        asked: the place as it was asked for.
        emulated: name of the fabric that was emulated; "" where none was.
        given: what the user says it is.
        remarks: what is to be told of it is added.
    """
    if given is not None:
        if asked and not was_emulated(asked, given):
            remarks.append(
                f"{what} was measured on an emulation of {asked.get('fabric', '')} with other "
                f"cables or routes than {given.name} has."
            )
        return _with_tables(what, given, remarks)
    if not emulated:
        return None
    fabric = emulated_fabric(asked)
    if fabric is None:
        remarks.append(
            f"The cables of {emulated} are not kept with {what}: name them with --fabric, and the "
            "routes with --routes or --route."
        )
        return None
    return _with_tables(what, fabric, remarks)


def _with_tables(what: str, fabric: Fabric, remarks: list[str]) -> Fabric | None:
    """The fabric, unless its routes are drawn by hashes: no figure is told of channels then."""
    if fabric.draws_routes:
        remarks.append(
            f"Hashes chose the routes of {what}: which cables its messages shared is not known."
        )
        return None
    return fabric
