"""What all tests share: real fabrics to read, and programs that the machine may lack.

With CONTEND_REQUIRE_ALL=1 no test may skip because the machine lacks something: such a skip counts
as a failure. Only a missing folder of shared data stays a skip. Two more variables let one run go
on where another had to skip: CONTEND_OUTCOMES=FILE appends a line for every test, "passed",
"failed" or "skipped" and its name, and one, "retried", for what failed before it passed;
CONTEND_SKIPPED_IN=FILE runs only what skipped by such a file.
"""

from __future__ import annotations

import os
import subprocess
import textwrap
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from contend.base.errors import MissingError
from contend.lab.mpi.search import packaged
from probe_programs import Mpi
from typed_commands import Typed, typing
from working_programs import found, lacking, unusable

# No test asserts a time: a busy machine takes longer for an example now and then.
hypothesis.settings.register_profile("contend", deadline=None)
hypothesis.settings.load_profile("contend")

# Tests that start ranks or whole networks and look at when things happen: `make test` runs them one
# after the other on a machine that does nothing else, and all others side by side. What else the
# machine does for a moment can still spoil what they measure, so each has three attempts.
_ALONE = (
    "tests/cli/measure/test_measure",
    "tests/cli/test_jobs_slurm.py",
    "tests/cli/test_study_emulated.py",
    "tests/cli/test_study_measured.py",
    "tests/cli/test_study_verification.py",
    # Other emulations tidy away what a dead one left, before it is looked at.
    "tests/lab/emulation/test_down.py::test_after_a_sudden_death",
    "tests/lab/emulation/test_forwarding_is_the_fabrics.py",
    "tests/lab/emulation/test_hashing.py",
    "tests/lab/emulation/test_headroom.py",
    "tests/lab/emulation/test_hosts.py",
    "tests/lab/emulation/test_network.py",
    "tests/lab/emulation/test_rates.py",
    "tests/lab/measurement/test_hotspot_operations.py",
    "tests/lab/measurement/test_measure.py",
    "tests/lab/measurement/test_resuming.py",
    "tests/lab/measurement/test_surroundings.py",
    "tests/lab/mpi/launchers/test_real_launchers.py",
    "tests/lab/mpi/launchers/test_slurm.py",
    "tests/prediction/test_calibrate_emulated.py",
    "tests/probes/test_clock.py",
    "tests/probes/test_trial.py",
    "tests/lab/studies/test_measured_mpi.py",
    "tests/tracer/test_lateness.py",
    "tests/tuned/test_mistakes.py::test_an_all_to_all_that_stands_still",
)

NO_SHARED_DATA = "the folder of shared fabrics is absent (set CONTEND_SHARED_DATA to it)"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of large real fabrics, which is not part of the checkout."""
    named = os.environ.get("CONTEND_SHARED_DATA")
    checkout = Path(__file__).resolve().parents[1]
    folder = Path(named) if named else checkout.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(NO_SHARED_DATA)
    return folder


@pytest.fixture(scope="session")
def require_program() -> Callable[[str], str]:
    """`require_program("opensm")` gives the path of a program that works, or skips the test."""

    def require(program: str) -> str:
        if why := lacking(program):
            pytest.skip(why)
        return str(found(program))

    return require


def _debian(require_program: Callable[[str], str], name: str) -> Mpi:
    return Mpi(name, require_program(f"mpicc.{name}"), require_program(f"mpirun.{name}"))


@pytest.fixture(scope="session")
def openmpi(require_program: Callable[[str], str]) -> Mpi:
    """Debian's Open MPI."""
    return _debian(require_program, "openmpi")


@pytest.fixture(scope="session")
def mpich(require_program: Callable[[str], str]) -> Mpi:
    """Debian's MPICH."""
    return _debian(require_program, "mpich")


@pytest.fixture(scope="session", params=["openmpi", "mpich"])
def debian_mpi(request: pytest.FixtureRequest, require_program: Callable[[str], str]) -> Mpi:
    """Debian's libraries, one after the other."""
    return _debian(require_program, request.param)


@pytest.fixture(scope="session")
def wheel() -> Mpi:
    """PyPI's Open MPI."""
    offered = packaged(dict(os.environ))
    if not offered or offered[0].wrapper is None:
        pytest.skip("no MPI library in this Python's environment")
    wrapper = offered[0].wrapper
    mpi = Mpi("wheel", str(wrapper), str(wrapper.parent / "mpirun"))
    if why := unusable(mpi.wrapper, mpi.launcher):
        pytest.skip(why)
    return mpi


@pytest.fixture(scope="session", params=["openmpi", "mpich", "wheel"])
def any_mpi(request: pytest.FixtureRequest, require_program: Callable[[str], str]) -> Mpi:
    """Debian's libraries and PyPI's Open MPI, one after the other."""
    if request.param == "wheel":
        return request.getfixturevalue("wheel")
    return _debian(require_program, request.param)


@pytest.fixture(scope="session", autouse=True)
def probe_cache(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A cache of compiled probes for all tests that do not want their own: compiling takes long.

    It stays, as its names are hashes of sources, flags, compiler and library; each user has one.
    """
    # There is none with `-p no:cacheprovider`.
    kept = getattr(request.config, "cache", None)
    name = f"probes-{os.geteuid()}"
    folder = tmp_path_factory.mktemp(name) if kept is None else kept.mkdir(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """`small_disk("64k")` is a folder on a file system of that size."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a file system")
    folder = tmp_path / "disk"

    def mount(size: str) -> Path:
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], check=True)
        return folder

    yield mount
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture(scope="session")
def faults_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where faults of contend itself are reported, also by the processes that tests start."""
    folder = tmp_path_factory.mktemp("faults")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTEND_FAULTS", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def no_fault_goes_unnoticed(faults_folder: Path) -> Iterator[None]:
    """A command that ends in a fault of contend's fails the test, whatever it looks at."""
    yield
    reports = list(faults_folder.iterdir())
    texts = [report.read_text(encoding="utf-8") for report in reports]
    for report in reports:
        report.unlink()
    assert not texts, texts[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not hasattr(report, "wasxfail"):
        _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report


@cache
def _skipped_before() -> frozenset[str] | None:
    """Names of tests and of whole modules that skipped in the run that this one goes on with."""
    if not (file := os.environ.get("CONTEND_SKIPPED_IN")):
        return None
    lines = [line.partition(" ") for line in Path(file).read_text("utf-8").splitlines()]
    return frozenset(name for outcome, _, name in lines if outcome == "skipped")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Modules of which no test would run: importing all of them takes a while."""
    if collection_path.suffix != ".py":
        return None
    module = collection_path.relative_to(config.rootpath).as_posix()
    alone = tuple(prefix.partition("::")[0] for prefix in _ALONE)
    if config.getoption("markexpr") == "alone" and not module.startswith(alone):
        return True
    names = _skipped_before()
    if names is not None and module not in {name.partition("::")[0] for name in names}:
        return True
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(_ALONE):
            item.add_marker("alone")
            item.add_marker(pytest.mark.flaky(reruns=2))
        elif "[wheel" in item.nodeid or "Open MPI 5" in item.nodeid:
            # Open MPI 5's launcher now and then does not end with its ranks (PRRTE's issue 1839).
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=["TimeoutExpired"]))
    if (names := _skipped_before()) is not None:
        chosen = [item for item in items if {item.nodeid, item.nodeid.partition("::")[0]} & names]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
        items[:] = chosen


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says last what failed before it passed and what skipped for want of what."""
    file = os.environ.get("CONTEND_OUTCOMES")
    # Workers have a summary too, which nobody sees.
    if file and not hasattr(terminalreporter.config, "workerinput"):
        _append_outcomes(Path(file), terminalreporter.stats)
    if retried := _retried(terminalreporter.stats):
        terminalreporter.write_line(f"Failed before they passed: {', '.join(retried)}.")
    reasons = Counter(
        str(report.longrepr[2]).removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
    )
    if reasons:
        counts = "; ".join(f"{count} because {reason}" for reason, count in reasons.most_common())
        terminalreporter.write_line(textwrap.fill(f"Skipped tests: {counts}.", 100))


def _append_outcomes(file: Path, stats: Mapping[str, Sequence[Any]]) -> None:
    """A line for every test: one that passes and cannot be taken down has failed."""
    outcomes: dict[str, str] = {}
    for outcome, categories in (
        ("passed", ("passed", "xfailed")),
        ("skipped", ("skipped",)),
        ("failed", ("failed", "error")),
    ):
        for report in (report for name in categories for report in stats.get(name, ())):
            outcomes[report.nodeid] = outcome
    with file.open("a", encoding="utf-8") as out:
        out.writelines(f"{outcome} {name}\n" for name, outcome in outcomes.items())
        out.writelines(f"retried {name}\n" for name in _retried(stats))


def _retried(stats: Mapping[str, Sequence[Any]]) -> list[str]:
    passed = {report.nodeid for report in stats.get("passed", ()) if report.when == "call"}
    return sorted(passed & {report.nodeid for report in stats.get("rerun", ())})


def _refuse_skip(report: Any) -> None:
    """Turns a skip into a failure where everything that tests need must be installed."""
    if not report.skipped or os.environ.get("CONTEND_REQUIRE_ALL", "0") in ("", "0"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if NO_SHARED_DATA not in reason:
        report.outcome = "failed"
        report.longrepr = f"{reason}: not allowed to skip with CONTEND_REQUIRE_ALL set"


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str]) -> Typed:
    """`typed("fabric show", file)` carries a command out, and gives what it printed.

    The first argument may be several words; `status` is how the command is to end, 0 unless said.
    """
    return typing(capsys)


@pytest.fixture(scope="session")
def permitted() -> None:
    """Skips where this user may not make network namespaces."""
    # Imported here, as most tests emulate nothing.
    from contend.lab.emulation import kernel

    try:
        os.close(kernel.in_a_thread(kernel.new_namespace))
    except MissingError as error:
        pytest.skip(f"no network namespaces here: {error}")
