"""The front door: one line for any error, and the exit status that belongs to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
import typer

from contend.base.errors import InputError, MissingError, ShortfallError, UsageError
from contend.cli.app import app, run, run_reporting_faults
from typed_commands import Typed

Fail = Callable[[BaseException], list[str]]


@pytest.fixture
def fail() -> Iterator[Fail]:
    """`fail(error)` gives the arguments of a command that raises the error."""
    before = list(app.registered_commands)

    def register(error: BaseException) -> list[str]:
        @app.command("fail")
        def _fail() -> None:
            raise error

        return ["fail"]

    yield register
    app.registered_commands[:] = before


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (UsageError("2 ranks are needed"), 2, "contend: 2 ranks are needed"),
        (
            InputError("net", 3, "a port", '"x"'),
            2,
            'contend: net:3: expected a port, got "x"',
        ),
        (ShortfallError("1 check failed"), 1, "contend: 1 check failed"),
        (MissingError("opensm is not installed"), 3, "contend: opensm is not installed"),
        (FileNotFoundError(2, "No such file", "net"), 2, "contend: net: no such file"),
        (IsADirectoryError(21, "Is a directory", "net"), 2, "contend: net: Is a directory"),
        (PermissionError(13, "Permission denied", "net"), 2, "contend: net: Permission denied"),
        (OSError("what else"), 2, "contend: what else"),
        (OSError(28, "No space left", "f.json"), 3, "contend: f.json: No space left"),
        (OSError(11, "no room for a process"), 3, "contend: no room for a process"),
        (
            RuntimeError("can't start new thread"),
            3,
            "contend: no further thread can be started for this user",
        ),
        (KeyboardInterrupt(), 130, "contend: interrupted"),
        (typer.Abort(), 130, "contend: interrupted"),
        (typer.BadParameter("no such engine"), 2, "contend: Invalid value: no such engine"),
    ],
)
def test_error_is_one_line_and_a_status(
    fail: Fail, typed: Typed, error: BaseException, status: int, line: str
) -> None:
    """0 done, 1 fell short, 2 bad input or usage, 3 the machine lacks something."""
    captured = typed(*fail(error), status=status)
    assert captured.out == ""
    assert captured.err == f"{line}\n"


def test_exit_status_of_a_command_is_kept(fail: Fail, typed: Typed) -> None:
    assert typed(*fail(typer.Exit(1)), status=1).err == ""


def test_fault_of_contend_itself_is_not_hidden_from_tests(fail: Fail) -> None:
    with pytest.raises(ZeroDivisionError):
        run(fail(ZeroDivisionError()))


def test_fault_of_contend_itself_is_one_line_and_a_file(
    fail: Fail,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Status 70; the traceback is kept for whoever mends it."""
    monkeypatch.setenv("CONTEND_FAULTS", str(tmp_path))
    assert run_reporting_faults(fail(KeyError("rank\x1b[2J"))) == 70
    [kept] = tmp_path.iterdir()
    line = "contend: this is a fault of contend: KeyError: 'rank\\x1b[2J'"
    assert capsys.readouterr().err == f"{line}; please report it with {kept}\n"
    assert "KeyError: 'rank" in kept.read_text()
    assert "Traceback (most recent call last)" in kept.read_text()


def test_a_panic_of_a_library_is_caught_too(
    fail: Fail,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """polars' panics are no `Exception`, so that nobody catches them by mistake."""
    monkeypatch.setenv("CONTEND_FAULTS", str(tmp_path))
    panic = pl.exceptions.PanicException("called unwrap() on nothing")
    assert not isinstance(panic, Exception)
    assert run_reporting_faults(fail(panic)) == 70
    assert "PanicException: called unwrap() on nothing" in capsys.readouterr().err


def test_debug_shows_the_traceback(
    fail: Fail,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CONTEND_FAULTS", str(tmp_path))
    assert run_reporting_faults(["--debug", *fail(ZeroDivisionError())]) == 70
    error = capsys.readouterr().err
    assert error.startswith("Traceback (most recent call last)")
    assert error.splitlines()[-1].startswith("contend: this is a fault of contend: ZeroDivision")


def test_error_of_any_length_is_one_line_without_escape_sequences(fail: Fail, typed: Typed) -> None:
    """Names come from files of others: they may hold what clears a terminal, or a megabyte."""
    error = typed(*fail(UsageError("host \x1b[2J\x9b\r\n is " + "long " * 200_000)), status=2).err
    assert error.startswith("contend: host \\x1b[2J\\x9b is long long")
    assert error.endswith(" long\n")
    assert error.count("\n") == 1
    assert len(error) <= 500 + len("contend: \n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nothing-like-this"], "contend: No such command 'nothing-like-this'."),
        (["check", "fig1"], "contend: check is a verb of fabric: type contend fabric check"),
        (
            ["predict", "nowhere", "fig1"],
            "contend: nowhere: neither a file or folder nor a verb of predict (alltoall, "
            "collectives, program)",
        ),
        (["--nothing-like-this"], "contend: No such option: --nothing-like-this"),
    ],
)
def test_wrong_usage(typed: Typed, arguments: list[str], line: str) -> None:
    assert typed(*arguments, status=2).err.strip() == line


def test_version(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", {"contend": "1.2.3"}.__getitem__)
    assert typed("--version").out == "contend 1.2.3\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", "absent", "--json"],
        ["simulate", "absent", "--plot"],
        ["study", "absent", "--json"],
        ["fabric", "show", "absent", "--json"],
        ["fabric", "draw", "absent", "--plot"],
        ["fabric", "make", "absent", "-o"],
        ["fabric", "convert", "absent", "-o"],
    ],
)
def test_place_that_cannot_be_written_is_refused_before_any_work(
    arguments: list[str], typed: Typed, tmp_path: Path
) -> None:
    """The fabric is absent too, but nobody has looked for it yet."""
    target = tmp_path / "absent" / "file.svg"
    printed = typed(*arguments, target, status=2)
    assert printed.err == f"contend: {target}: No such file or directory\n"
