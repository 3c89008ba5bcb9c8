"""A user's own pattern from a table or a matrix; whatever stands there, only our errors."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contend.base.errors import ContendError, InputError, UsageError
from contend.traffic.pattern import Pattern, parse


def read(path: Path, content: str | bytes, ranks: int = 8) -> Pattern:
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8", newline="")
    else:
        path.write_bytes(content)
    return parse(f"file:{path}", ranks)


def messages(pattern: Pattern) -> list[list[tuple[int, int, int]]]:
    """(source, target, bytes or 1) by round."""
    rounds = []
    for number in range(pattern.rounds):
        source, target, weight = pattern.core.messages(number, 1, 0)
        weights = weight.tolist() or [1] * len(source)
        rounds.append(list(zip(source.tolist(), target.tolist(), weights, strict=True)))
    return rounds


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "pattern.csv"


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    return tmp_path / "pattern.npy"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("source,target\n0,1\n2,3\n", [[(0, 1, 1), (2, 3, 1)]]),
        ("target,source\n0,1\n", [[(1, 0, 1)]]),
        # Rounds in any order; a number that does not occur is no empty round.
        ("round,source,target\n5,0,1\n1,2,3\n5,4,6\n", [[(2, 3, 1)], [(0, 1, 1), (4, 6, 1)]]),
        ("source,target,bytes\n0,1,10\n2,3,20\n4,5,0\n", [[(0, 1, 10), (2, 3, 20)]]),
        # All alike weigh alike.
        ("source,target,bytes\n0,1,64\n2,3,64\n", [[(0, 1, 1), (2, 3, 1)]]),
        (" Source , TARGET \r\n 0 , 1 \r\n\r\n  \r\n2,3", [[(0, 1, 1), (2, 3, 1)]]),
        ("\ufeffsource,target\n0,1\n", [[(0, 1, 1)]]),
        ('"source","target"\n"0","1"\n', [[(0, 1, 1)]]),
        ("source,target\n3,3\n", [[(3, 3, 1)]]),
    ],
)
def test_tables(table: Path, content: str, expected: list[Any]) -> None:
    assert messages(read(table, content)) == expected


@pytest.mark.parametrize(
    ("content", "where", "got"),
    [
        ("", ":1", "an empty line"),
        ("\n0,1\n", ":1", "an empty line"),
        ("0,1\n2,3\n", ":1", "'0,1'"),
        ("source,target,size\n", ":1", "'source,target,size'"),
        ('"so\nurce",target\n', ":1", "'so\\nurce,target'"),
        ("source,target,source\n", ":1", "source,target,source"),
        ("source,target\n", "", "none"),
        ("source,target,bytes\n0,1,0\n", "", "none"),
        ("source,target\n0,1\n0\n", ":3", "1"),
        ("source,target\n0,1,2\n", ":2", "3"),
        ("source,target\n0,-1\n", ":2", "'-1'"),
        ("source,target\n0,1.5\n", ":2", "'1.5'"),
        ("source,target\n0,2\x1e\n", ":2", r"'2\x1e'"),
        ("source,target\n0,\n", ":2", "''"),
        ("source,target\n0,٣\n", ":2", "'٣'"),
        ("source,target\n0,1000000000000000\n", ":2", "'1000000000000000'"),
        ("source,target\n0,1" + "0" * 200_000 + "\n", ":2", None),
        ('source,target\n0,"1\n2\n', ":3", None),
    ],
)
def test_wrong_tables(table: Path, content: str, where: str, got: str | None) -> None:
    with pytest.raises(InputError) as caught:
        read(table, content)
    message = str(caught.value)
    assert message.startswith(f"{table}{where}: expected ")
    assert "\n" not in message
    if got is not None:
        assert message.endswith(f", got {got}")


def test_rank_that_does_not_exist(table: Path) -> None:
    with pytest.raises(UsageError, match=r"expected ranks below 8, .*, got rank 8"):
        read(table, "source,target\n0,8\n")


def test_file_that_is_not_there(tmp_path: Path) -> None:
    for name in ("absent.csv", "absent.npy"):
        with pytest.raises(FileNotFoundError):
            parse(f"file:{tmp_path / name}", 4)


def test_matrix(matrix: Path) -> None:
    np.save(matrix, np.array([[0, 5, 0], [0, 0, 7], [0, 0, 0]]))
    assert messages(parse(f"file:{matrix}", 4)) == [[(0, 1, 5), (1, 2, 7)]]


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "f16", ">f8", "u1", "i1", "i8", ">u2"])
def test_matrix_of_any_numbers(matrix: Path, kind: str) -> None:
    np.save(matrix, np.array([[0, 1], [2, 0]], dtype=kind))
    assert messages(parse(f"file:{matrix}", 2)) == [[(0, 1, 1), (1, 0, 2)]]


def test_matrix_stored_by_columns(matrix: Path) -> None:
    np.save(matrix, np.asfortranarray(np.array([[0, 5, 0], [0, 0, 7], [0, 0, 0]])))
    assert messages(parse(f"file:{matrix}", 4)) == [[(0, 1, 5), (1, 2, 7)]]


def test_fraction_of_a_byte_is_a_byte(matrix: Path) -> None:
    np.save(matrix, np.array([[0, 0.25], [3, 0]]))
    assert messages(parse(f"file:{matrix}", 2)) == [[(0, 1, 1), (1, 0, 3)]]


def test_ratios_of_huge_messages_are_kept(table: Path) -> None:
    """So that sums over messages and samples stay within 64 bits, beyond 2^40 in all are scaled."""
    [[one, other, small]] = messages(
        read(table, "source,target,bytes\n0,1,900000000000000\n2,3,300000000000000\n4,5,1\n")
    )
    assert one[2] + other[2] + small[2] <= 2**40 + 3
    assert one[2] / other[2] == pytest.approx(3)
    assert small[2] == 1


@pytest.mark.parametrize(
    "content",
    [
        np.zeros((2, 2)),
        np.ones((2, 3)),
        np.ones(4),
        np.ones((2, 2, 2)),
        np.array([[0, -1], [0, 0]]),
        np.array([[0, np.nan], [0, 0]]),
        np.array([[0, np.inf], [0, 0]], dtype="f2"),
        np.array([[0, 2.0**53], [0, 0]]),
        np.array([["a", "b"], ["c", "d"]]),
        np.array([[1 + 1j, 0], [0, 0]]),
        np.array([[True, False], [False, True]]),
        np.zeros((2, 2), dtype=[("a", "i4")]),
        np.zeros((0, 0)),
        np.lib.stride_tricks.as_strided(np.ones(1, dtype="i1"), (20_001, 20_001), (0, 0)),
    ],
)
def test_wrong_matrices(matrix: Path, content: np.ndarray) -> None:
    if content.shape == (20_001, 20_001):
        # Only the heading is needed.
        with matrix.open("wb") as file:
            np.lib.format.write_array_header_1_0(
                file, {"descr": "|i1", "fortran_order": False, "shape": content.shape}
            )
            file.truncate(file.tell() + 20_001**2)
    else:
        np.save(matrix, content)
    with pytest.raises(InputError) as caught:
        parse(f"file:{matrix}", 30_000)
    assert str(caught.value).startswith(f"{matrix}: expected ")


def test_other_archives_are_no_matrix(matrix: Path) -> None:
    archive = io.BytesIO()
    np.savez(archive, a=np.ones((2, 2)))
    pickled = io.BytesIO()
    np.save(pickled, np.array([[None, 1], [2, 3]], dtype=object), allow_pickle=True)
    for content in (archive.getvalue(), pickled.getvalue(), b"PK\x03\x04", b"", b"\x80\x04K\x01."):
        with pytest.raises(InputError) as caught:
            read(matrix, content)
        # numpy would advise to allow what runs code.
        assert "pickle" not in str(caught.value)


def _npy(header: bytes, body: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + body


@pytest.mark.parametrize(
    "content",
    [
        _npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }\n"),
        _npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }\n", b"0" * 64),
        _npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (9**9, 9**9), }\n"),
        _npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999), }\n"),
        _npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 2L), }\n", b"0" * 32),
        _npy(b"{'descr': 'zz', 'fortran_order': False, 'shape': (2, 2), }\n", b"0" * 32),
        _npy(b"{'descr': [], 'fortran_order': False, 'shape': (2, 2), }\n", b"0" * 32),
        _npy(b"{'descr': ('<f8',), 'fortran_order': False, 'shape': (2, 2), }\n", b"0" * 32),
        _npy(b"{'descr': '<f8', 'fortran_order': 3, 'shape': (2, 2), }\n", b"0" * 32),
        _npy(b"{" * 60_000),
        _npy(b"'" + b"(" * 5000),
        _npy(b"\xff\xfe\xfd"),
        _npy(b"None\n"),
        b"\x93NUMPY\x09\x00",
        b"\x93NUMPY",
    ],
)
def test_hostile_matrices(matrix: Path, content: bytes) -> None:
    matrix.write_bytes(content)
    with pytest.raises(ContendError) as caught:
        parse(f"file:{matrix}", 4)
    assert "\n" not in str(caught.value)
