"""Large inputs, within what docs/explanation/bounds.md promises."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from bounded_process import read_within_bounds
from campaign import reading
from campaign.kinds import Kind, kinds
from campaign.mutations import ARRAY, BINARY, JSON, TABLE, TEXT

_EVIDENCE = bool(os.environ.get("CONTEND_EVIDENCE"))
# Enough that what takes the square of the length takes minutes. `make evidence` has four times as
# much, a little below 1 MiB, beyond which no plan is looked at.
_LARGE = 1_000_000 if _EVIDENCE else 250_000
_BEFORE = """
import os
from pathlib import Path
from campaign.kinds import kinds
kind = next(kind for kind in kinds() if kind.name == {name!r})
folder = Path({folder!r})
os.chdir(folder)
if kind.base is not None:
    kind.base(folder)
place = folder / kind.place
place.parent.mkdir(parents=True, exist_ok=True)

def read(path):
    place.unlink(missing_ok=True)
    os.link(folder / path, place)
    kind.read(place)
"""


def _filled(kind: Kind) -> Iterator[bytes]:
    """Texts of one thing over and over, after a line as the kind begins and by themselves."""
    for seed in kind.seeds[:1]:
        yield seed * (_LARGE // len(seed))
        lines = seed.splitlines(keepends=True)
        longest = max(lines, key=len)
        yield lines[0] + longest * (_LARGE // len(longest))
        for before, after in list(pairwise(lines))[:3]:
            yield before + after[:8] * (_LARGE // 8)
    for one in (b"[", b"\n", b" ", b'"', b"9", b"a.", b"[[a]]\n", b"\x00", b"a\n", b"0,1\n"):
        yield one * (_LARGE // len(one))


def _nested(kind: Kind) -> Iterator[bytes]:
    """JSON that is deep, long, or has one long thing."""
    yield b"[" * _LARGE
    yield b'{"a":' * (_LARGE // 5)
    seed = kind.seeds[0].strip()
    for value in (
        b'"' + b"a" * _LARGE + b'"',
        b"9" * _LARGE,
        b"[" + b"0," * (_LARGE // 2) + b"0]",
        b"[" * 900 + b"]" * 900,
        b"{" + b",".join(b'"%d":{}' % number for number in range(_LARGE // 12)) + b"}",
    ):
        yield seed[:-1] + b',"more":' + value + b"}"
        # In place of the first value that the kind knows.
        key, _, rest = seed.partition(b":")
        yield key + b":" + value + b"," + rest.partition(b",")[2]


def _claims(kind: Kind) -> Iterator[bytes]:
    """Numbers of a binary file that claim as much as they can, and what follows its end."""
    seed = kind.seeds[0]
    yield seed + bytes(_LARGE)
    for place in range(0, min(len(seed), 256), 4):
        for claim in (b"\xff\xff\xff\x7f", b"\x00\x00\x00\x40"):
            yield seed[:place] + claim + seed[place + 4 :]


def _arrays(kind: Kind) -> Iterator[bytes]:
    """Arrays that claim more than is there, or that take a thousandth on the disk."""
    seed = kind.seeds[0]
    if seed.startswith(b"PK"):
        for shape in ((200_000_000,), (20_000, 10_000)):
            out = io.BytesIO()
            np.savez_compressed(out, samples=np.zeros(shape, np.int8), mean=np.zeros(3))
            yield out.getvalue()
        return
    for shape in (b"(2000000000, 2000000000)", b"(20000, 20000)", b"(-1, 12)", b"(12, 12, 12, 12)"):
        begin, end = seed.index(b"'shape': ") + 9, seed.index(b")") + 1
        header = seed[10:begin] + shape + seed[end : seed.index(b"\n")].rstrip() + b" " * 40 + b"\n"
        yield seed[:8] + len(header).to_bytes(2, "little") + header + bytes(2304)


def _tables(kind: Kind) -> Iterator[bytes]:
    """The kind's table with rows that are all alike: much in few bytes."""
    table = pl.read_parquet(io.BytesIO(kind.seeds[0]))
    for rows in (100_000, 20_000_000):
        out = io.BytesIO()
        table.head(1).select(pl.all().repeat_by(rows).explode()).write_parquet(out)
        yield out.getvalue()


def _large(kind: Kind) -> Iterator[bytes]:
    shapes = {
        id(TEXT): _filled, id(JSON): _nested, id(BINARY): _claims, id(ARRAY): _arrays,
        id(TABLE): _tables,
    }  # fmt: skip
    yield from shapes[id(kind.own)](kind)


# Fabrics have bombs of their own in tests/test_bounds.py.
_KINDS = {
    kind.name: kind for kind in kinds() if not kind.is_text and kind.read is not reading.fabric
}
# `make evidence` has all; otherwise there is one of each shape, and what takes the most text.
_ALWAYS = (
    *("records of jobs", "plans", "JSON of jobs", "run.json"),
    *("records of ranks", "pattern .npy", "samples.parquet"),
)


@pytest.mark.parametrize("name", _KINDS if _EVIDENCE else _ALWAYS)
def test_large_inputs_are_read_within_bounds_or_refused(name: str, tmp_path: Path) -> None:
    contents = list(_large(_KINDS[name]))
    for number, content in enumerate(contents):
        (tmp_path / f"large-{number}").write_bytes(content)
    sizes = {f"large-{number}": len(content) for number, content in enumerate(contents)}
    before = _BEFORE.format(name=name, folder=str(tmp_path))
    said = read_within_bounds("read(path)", sizes, before)
    assert any(outcome.startswith("refused ") for outcome in said)
