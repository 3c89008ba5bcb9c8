"""A moment of the campaign on every kind of input, and the planted faults that it finds."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from campaign import reading
from campaign.driving import content_of, drive
from campaign.kinds import Kind, kinds
from contend.fabric.formats.topology import READERS
from contend.routes.dumps.readers import TABLE_READERS

KINDS = {kind.name: kind for kind in kinds()}
INPUTS = 50
# Within so many inputs a fault behind the last check of a reader is met.
_REACHED = 200


@pytest.mark.parametrize("name", KINDS)
def test_every_input_is_borne(name: str) -> None:
    counts = drive(KINDS[name], seed=1, first=0, count=INPUTS)
    assert [str(fault) for fault in counts.faults] == []
    assert counts.tried == counts.accepted + counts.refused == INPUTS
    assert counts.accepted >= INPUTS / 10


def test_every_reader_has_a_kind() -> None:
    told = {
        kind.read: [
            seed for each in KINDS.values() if each.read is kind.read for seed in each.seeds
        ]
        for kind in KINDS.values()
    }
    for name, reader in READERS.items():
        assert any(reader.recognises(seed) for seed in told[reading.fabric]), name
    for name, tables in TABLE_READERS.items():
        assert any(tables.recognises(seed) for seed in told[reading.tables]), name


def planted(kind: Kind, how: str) -> Kind:
    """The kind with a fault in what a mutated input comes to that its reader has accepted."""
    seeds = set(kind.seeds)

    def read(path: Path) -> None:
        kind.read(path)
        if path.read_bytes() in seeds:
            return
        if how == "an error":
            raise KeyError("planted")
        if how == "memory":
            bytearray(3 << 30)
        elif how == "a file":
            (path.parent / ".planted").write_bytes(b"")
        while how == "time":
            pass

    return dataclasses.replace(kind, read=read)


@pytest.mark.parametrize(
    ("how", "sign", "name"),
    [
        ("an error", "KeyError", "run.json"),
        ("memory", "MemoryError", "ibnetdiscover"),
        ("a file", "left behind", "pattern .npy"),
        ("time", "TookTooLong", "records of ranks"),
    ],
)
def test_a_fault_planted_behind_all_checks_is_found(
    how: str, sign: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("campaign.driving.SECONDS", 0.5)
    kind = dataclasses.replace(planted(KINDS[name], how), command=())
    found = []
    for first in range(0, _REACHED, 2):
        found += drive(kind, seed=2, first=first, count=2).faults
        if any(sign in fault.what for fault in found):
            break
    assert any(sign in fault.what for fault in found)


def test_an_input_is_the_same_again() -> None:
    for kind in KINDS.values():
        assert content_of(kind, 3, 17) == content_of(kind, 3, 17)
