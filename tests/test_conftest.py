"""The rule that nothing but absent shared data may skip where everything must be installed."""

from __future__ import annotations

import os
import shlex
import subprocess
from functools import cache
from pathlib import Path

import pytest

import working_programs

CONFTEST = Path(__file__).with_name("conftest.py").read_text()
LACKING = """
def test_lacks(require_program):
    require_program("no-such-program")
"""
MODULE = """
import pytest
pytest.skip("no-such-program is missing", allow_module_level=True)
"""
SHARED = """
def test_shares(shared_data):
    pass
"""
EXPECTED_FAILURE = """
import pytest
@pytest.mark.xfail(reason="known")
def test_fails():
    raise AssertionError
"""
SPOILED = """
attempts = {}
def spoil(times, name):
    attempts[name] = attempts.get(name, 0) + 1
    assert attempts[name] > times
def test_spoiled_twice():
    spoil(2, "twice")
def test_spoiled_thrice():
    spoil(3, "thrice")
"""


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    for variable in ("REQUIRE_ALL", "OUTCOMES", "SKIPPED_IN"):
        monkeypatch.delenv(f"CONTEND_{variable}", raising=False)
    monkeypatch.setenv("CONTEND_SHARED_DATA", str(pytester.path / "absent"))
    pytester.makeconftest(CONFTEST)
    return pytester


def test_missing_program_skips(inner: pytest.Pytester) -> None:
    inner.makepyfile(LACKING)
    inner.runpytest_inprocess().assert_outcomes(skipped=1)


def test_missing_program_fails_when_all_is_required(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEND_REQUIRE_ALL", "1")
    inner.makepyfile(LACKING)
    result = inner.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no-such-program is not installed*"])


_HALVES = {
    "a wrapper without a launcher": (
        "mpicc.one",
        {"mpicc.one": "exit 0"},
        "the program mpirun.one is not installed",
    ),
    "a wrapper without its compiler": (
        "mpicc.two",
        {"mpicc.two": "echo no compiler gcc; exit 1", "mpirun.two": "exit 0"},
        "mpicc.two and mpirun.two do not work: no compiler gcc",
    ),
    "a Fortran wrapper without its compiler": (
        "mpifort.three",
        {"mpifort.three": "exit 1"},
        "mpifort.three does not compile: status 1",
    ),
    "a launcher that cannot launch": (
        "mpirun.four",
        {"mpirun.four": "echo no library; exit 1"},
        "mpirun.four does not launch: no library",
    ),
    "programs that do not run": (
        "mpicc.five",
        {"mpicc.five": "exit 0", "mpirun.five": 'case "$3" in */true) exit 0; esac; exit 7'},
        "mpicc.five and mpirun.five do not work: status 7",
    ),
    "OpenSM without its simulator": (
        "opensm",
        {"opensm": "exit 0"},
        "opensm stands alone: the program ibsim is not installed",
    ),
}


@pytest.mark.parametrize("half", _HALVES)
def test_what_is_half_there_is_lacking(
    half: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, programs, why = _HALVES[half]
    for name, code in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{code}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(working_programs, "MORE_FOLDERS", "")
    for tried in (working_programs.found, working_programs.lacking, working_programs.unusable):
        monkeypatch.setattr(working_programs, tried.__name__, cache(tried.__wrapped__))
    assert working_programs.lacking(asked) == why


def test_a_program_without_its_library_is_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a launcher's package is there and its library's is not."""
    library, program = tmp_path / "libgone.so", tmp_path / "stranded"
    source = tmp_path / "x.cpp"
    source.write_text("int gone();\nint main() { return gone(); }\n")
    (tmp_path / "gone.cpp").write_text("int gone() { return 0; }\n")
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    made = [*compiler, "-shared", "-fPIC", str(tmp_path / "gone.cpp"), "-o", str(library)]
    subprocess.run(made, check=True)
    subprocess.run([*compiler, str(source), str(library), "-o", str(program)], check=True)
    library.unlink()
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert working_programs.lacking("stranded") == (f"stranded does not start: it lacks {library}")


@pytest.mark.parametrize(
    ("tests", "outcomes"),
    [
        pytest.param(MODULE, {"errors": 1}, id="a skipped module fails"),
        pytest.param(SHARED, {"skipped": 1}, id="absent shared data may always skip"),
        pytest.param(EXPECTED_FAILURE, {"xfailed": 1}, id="an expected failure is no skip"),
    ],
)
def test_when_all_is_required(
    tests: str, outcomes: dict[str, int], inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEND_REQUIRE_ALL", "1")
    inner.makepyfile(tests)
    inner.runpytest_inprocess().assert_outcomes(**outcomes)


def test_shared_data_folder_is_the_one_named(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = inner.mkdir("fabrics")
    monkeypatch.setenv("CONTEND_SHARED_DATA", str(named))
    inner.makepyfile(f"""
def test_folder(shared_data):
    assert str(shared_data) == {str(named)!r}
""")
    inner.runpytest_inprocess().assert_outcomes(passed=1)


def test_what_skipped_can_be_run_by_itself(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole module too, once its program is there; nothing that ran runs again."""
    inner.makepyfile(
        test_one=LACKING
        + """
def test_passes():
    pass
def test_fails():
    raise AssertionError
""",
        test_two=MODULE,
    )
    before, after = inner.path / "before", inner.path / "after"
    monkeypatch.setenv("CONTEND_OUTCOMES", str(before))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    # Each once, also where several processes run tests.
    inner.runpytest_subprocess("-n", "1")
    assert sorted(before.read_text().splitlines()) == [
        "failed test_one.py::test_fails",
        "passed test_one.py::test_passes",
        "skipped test_one.py::test_lacks",
        "skipped test_two.py",
    ]
    monkeypatch.setattr(working_programs, "lacking", lambda program: "")
    inner.makepyfile(test_two="def test_there(): pass")
    monkeypatch.setenv("CONTEND_OUTCOMES", str(after))
    monkeypatch.setenv("CONTEND_SKIPPED_IN", str(before))
    inner.runpytest_inprocess().assert_outcomes(passed=2, deselected=2)
    assert sorted(after.read_text().splitlines()) == [
        "passed test_one.py::test_lacks",
        "passed test_two.py::test_there",
    ]


def test_what_the_machine_spoils_is_tried_again_and_said(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the tests that measure only; one that fails three times has failed."""
    outcomes = inner.path / "outcomes"
    monkeypatch.setenv("CONTEND_OUTCOMES", str(outcomes))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    measuring = inner.mkpydir("tests").joinpath("lab", "emulation")
    measuring.mkdir(parents=True)
    measuring.joinpath("test_rates.py").write_text(SPOILED)
    inner.makepyfile(test_counting=SPOILED)
    result = inner.runpytest_subprocess("--rootdir", str(inner.path))
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        ["Failed before they passed: tests/lab/emulation/test_rates.py::test_spoiled_twice."]
    )
    assert sorted(outcomes.read_text().splitlines()) == [
        "failed test_counting.py::test_spoiled_thrice",
        "failed test_counting.py::test_spoiled_twice",
        "failed tests/lab/emulation/test_rates.py::test_spoiled_thrice",
        "passed tests/lab/emulation/test_rates.py::test_spoiled_twice",
        "retried tests/lab/emulation/test_rates.py::test_spoiled_twice",
    ]
