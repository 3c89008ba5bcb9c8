"""Errors: one line each, and an exit status."""

from __future__ import annotations

import pickle

import pytest

from contend.base.errors import ContendError, InputError, MissingError, ShortfallError, UsageError


@pytest.mark.parametrize(
    ("kind", "status"), [(UsageError, 2), (ShortfallError, 1), (MissingError, 3)]
)
def test_status(kind: type[ContendError], status: int) -> None:
    """0 done, 1 fell short, 2 bad input or usage, 3 the machine lacks something."""
    error = kind("what is the matter")
    assert error.status == status
    assert str(error) == "what is the matter"


def test_input_error_names_file_and_line() -> None:
    error = InputError("net.txt", 7, "a port", '"x"')
    assert error.status == 2
    assert str(error) == 'net.txt:7: expected a port, got "x"'
    assert (error.source, error.line) == ("net.txt", 7)
    assert (error.expected, error.got) == ("a port", '"x"')


def test_input_error_of_a_whole_file_has_no_line() -> None:
    assert (
        str(InputError("net.txt", 0, "a switch", "none")) == "net.txt: expected a switch, got none"
    )


def test_input_error_survives_the_way_between_processes() -> None:
    error = pickle.loads(pickle.dumps(InputError("net.txt", 7, "a port", "none")))
    assert str(error) == "net.txt:7: expected a port, got none"
