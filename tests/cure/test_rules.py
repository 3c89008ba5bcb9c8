"""Rules as files: what is written is read again, and what libraries are told is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contend.base.errors import InputError, UsageError
from contend.cure import LIBRARY, Rule, Rules, read_rules, write_rules
from contend.cure.rules import mpich_text, open_mpi_text, schedule_of

SHIFT = Rule((16, 16), (1, 1), (4096, 23170), "shift")
LINEAR = Rule((16, 16), (1, 1), (64, 255), "linear")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    rules = Rules((SHIFT, LINEAR), mpi="Open MPI 4.1.4", nonblocking=False)
    assert write_rules(rules, tmp_path) == ("rules.toml", "openmpi.conf")
    assert read_rules(tmp_path) == rules


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("version = 2", "expected version = 1"),
        ("version", "expected TOML"),
        ('version = 1\n[[rule]]\nranks = [1, 2]\nschedule = "fast"', "schedule of rule 1"),
        ('version = 1\n[[rule]]\nranks = [3, 2]\nschedule = "shift"', "ranks of rule 1"),
        ('version = 1\n[[rule]]\nschedule = "shift"', "ranks = [first, last] in rule 1"),
        ('version = 1\nnonblocking = "yes"', "nonblocking"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "rules.toml").write_text(text)
    with pytest.raises(InputError, match=what.replace("[", r"\[").replace("]", r"\]")):
        read_rules(tmp_path)


def test_no_rules_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contend tune"):
        read_rules(tmp_path / "none")


@pytest.mark.parametrize("size", [0, 64, 255, 256, 4095, 4096, 23170, 23171, 1 << 20])
@pytest.mark.parametrize("ranks", [2, 15, 16, 17, 64])
def test_open_mpi_reads_the_same_choice(ranks: int, size: int) -> None:
    numbers = {"shift": 2, "linear": 1, LIBRARY: 0}
    expected = numbers[schedule_of((SHIFT, LINEAR), ranks, 1, size)]
    assert _open_mpi_choice(open_mpi_text(Rules((SHIFT, LINEAR))), ranks, size) == expected


def _open_mpi_choice(text: str, ranks: int, size: int) -> int:
    """As Open MPI reads its file: the last entry of ranks, then bytes, that are not above these."""
    numbers = [int(word) for line in text.splitlines() for word in line.partition("#")[0].split()]
    assert numbers[:2] == [1, 3]
    at, chosen = 3, 0
    for _ in range(numbers[2]):
        of, count = numbers[at : at + 2]
        entries = [numbers[at + 2 + 4 * index : at + 6 + 4 * index] for index in range(count)]
        at += 2 + 4 * count
        if of <= ranks:
            chosen = [entry[1] for entry in entries if entry[0] <= size * ranks][-1]
    assert at == len(numbers)
    return chosen


def test_mpich_is_told_by_its_own_table(tmp_path: Path) -> None:
    own: dict[str, Any] = {"avg_msg_size=any": {"algorithm=MPIR_Alltoall_intra_pairwise": {}}}
    table = {
        "collective=bcast": {"algorithm=MPIR_Bcast_intra_binomial": {}},
        "collective=alltoall": {"comm_type=intra": {"is_sendbuf_inplace=no": own}},
    }
    library = tmp_path / "libmpi.so"
    library.write_bytes(b"\x00ELF" + json.dumps(table, separators=(",", ":")).encode() + b"\x00")
    rules = Rules((Rule((12, 15), (1, 1), (1024, 4095), "scattered"), SHIFT), mpi="MPICH 4.0.2")
    text = mpich_text(rules, library)
    assert text is not None
    told = json.loads(text)
    assert told["collective=bcast"] == table["collective=bcast"]
    # 16 is a power of two, where its pairwise exchange is not the shift: nothing is said of that.
    assert told["collective=alltoall"]["comm_type=intra"]["is_sendbuf_inplace=no"] == {
        "comm_size<=11": own,
        "comm_size<=15": {
            "avg_msg_size<1024": own,
            "avg_msg_size<=4095": {"algorithm=MPIR_Alltoall_intra_scattered": {}},
            "avg_msg_size=any": own,
        },
        "comm_size=any": own,
    }
    (tmp_path / "other.so").write_bytes(b"\x00ELF")
    assert mpich_text(rules, tmp_path / "other.so") is None
