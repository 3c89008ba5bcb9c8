"""Mutations that know what texts, JSON, tables and arrays are made of, and those that do not.

A third of them are meant to be valid still: what lies behind a reader's first check is reached only
by inputs that pass it.
"""

from __future__ import annotations

import bz2
import copy
import gzip
import io
import json
import lzma
import random
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl
import zstandard

Mutation = Callable[[bytes, random.Random], bytes]
LARGEST = 1 << 18

HOSTILE = (
    *(b"\xff\xfe", b"\xe9", "é".encode(), "π λ".encode(), b"\x1b[31mred", b"\x00", b"\x85"),
    *(b'=HYPERLINK("x")', b"+1", b"-oProxyCommand=id", b"<script>", b"]]>", b"&amp;", b"${x}"),
    *(b"../..", b"/", b"a b", b"a,b", b"'", b"\\", b"\\x41", b"%s", b"{0}", b"#", b"\xed\xa0\x80"),
    *("\u202e\u2028".encode(), b"n" * 300, b"n" * 70_000, b"nan", b"None", b"CON"),
)
_WORD = re.compile(rb'"[^"\n]{1,64}"|[A-Za-z][A-Za-z0-9_.-]{0,40}')
_SEPARATOR = re.compile(rb"([ ,;:=\t|&]+)")
_NUMBER = re.compile(rb"\d+")
# A name with a number, a GUID, or an address.
_IDENTITY = re.compile(rb"[A-Za-z]+[-_]?\d+|0x[0-9a-f]+|(?:[0-9a-f]{2}:){5}..|[0-9a-f]{16}")
_LABELS = (
    *(b"#: ", b"[1,#]<stdout>:", b"node0#: ", b"\t", b"    ", b"> ", b"\x1b[32m#\x1b[0m|", b"$ "),
    *(b"2026-05-01T12:00:0#.5Z ", b"[pod/worker-#/main] ", b"May  1 12:00:0# n# tool[4##]: "),
)
_COMPLAINTS = (
    b"ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (Lid 7)",
    b"umad (DR path slid 65535; dlid 65535; Attr 0x11:0) bad status 110; Connection timed out",
    b"slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
    b"n1:77:77 [0] NCCL WARN Call to ibv_reg_mr failed",
    b"lldpctl: unable to connect to socket /run/lldpd.socket: Permission denied",
)
_EXTREMES: tuple[Any, ...] = (
    *(0, -1, 1, 2**31, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30, 10**400),
    *(0.0, -0.0, 1e-300, 1e300, 5e-324, float("nan"), float("inf")),
    *(None, True, False, "", "x", "=1+1", "\x1b[31m", "é\x00", "n" * 1000, "../..", [], {}, [[]]),
)


_LARGEST = 1 << 26


def _named(content: bytes, chance: random.Random) -> bytes:
    """A word or a quoted text becomes one that some output may stumble over."""
    found = list(_WORD.finditer(content))
    if not found:
        return content
    old = chance.choice(found)[0]
    new = chance.choice(HOSTILE)
    if old.startswith(b'"'):
        new = b'"' + new.replace(b'"', b"") + b'"'
    # Every one of them or only the first: equal names stay equal or not.
    every = chance.choice((-1, 1)) if len(new) * content.count(old) < _LARGEST else 1
    return content.replace(old, new, every)


def _renumbered(content: bytes, chance: random.Random) -> bytes:
    """A number becomes one as long, or the next: often valid still."""
    found = list(_NUMBER.finditer(content))
    if not found:
        return content
    match = chance.choice(found)
    new = str(int(match[0][:40]) + chance.choice((-1, 1, 2))).lstrip("-").encode()
    if chance.random() < 0.5:
        new = bytes(chance.choice(b"0123456789") for _ in match[0])
    return content[: match.start()] + new.rjust(len(match[0]), b"0") + content[match.end() :]


def _fields(content: bytes, chance: random.Random) -> bytes:
    """Fields of a line change places, come twice or go."""
    lines = content.split(b"\n")
    at = chance.randrange(len(lines))
    parts = _SEPARATOR.split(lines[at])
    one, other = (2 * chance.randrange((len(parts) + 1) // 2) for _ in range(2))
    what = chance.randrange(3)
    if what == 0:
        parts[one], parts[other] = parts[other], parts[one]
    elif what == 1:
        del parts[one : one + 2]
    else:
        parts[one:one] = parts[one : one + 2]
    lines[at] = b"".join(parts)
    return b"\n".join(lines)


def _one_line(content: bytes, chance: random.Random) -> bytes:
    """A line goes, comes twice, or changes places with another."""
    lines = content.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    what = chance.randrange(3)
    if what == 0:
        del lines[one]
    elif what == 1:
        lines.insert(other, lines[one])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _written_otherwise(content: bytes, chance: random.Random) -> bytes:
    """The same text as other programs write it; readers should mostly take it."""
    what = chance.randrange(6)
    if what == 0:
        return content.replace(b"\n", b"\r\n")
    if what == 1:
        return b"\xef\xbb\xbf" + content
    if what == 2:
        return content.decode("utf-8", "replace").encode("utf-16")
    if what == 3:
        return content + b"\n" * chance.randrange(1, 9)
    if what == 4:
        return content.replace(b"\n", b" \n", chance.randrange(1, 9))
    return content.replace(b" ", b"  ", chance.randrange(1, 9))


def _nested(content: bytes, chance: random.Random) -> bytes:
    opening = chance.choice((b"[", b'{"a":', b"(", b"<a>", b"[[", b"{", b"a = ["))
    at = chance.choice((0, chance.randrange(len(content) + 1)))
    return content[:at] + opening * chance.choice((2, 100, 5000)) + content[at:]


def _labelled(content: bytes, chance: random.Random) -> bytes:
    """Lines have in front what launchers, pods and collectors of logs write there."""
    label, lines = chance.choice(_LABELS), content.split(b"\n")
    for at in range(chance.choice((0, 0, chance.randrange(len(lines)))), len(lines)):
        if chance.random() < 0.98:
            lines[at] = label.replace(b"#", b"%d" % (at % chance.choice((1, 10, 60)))) + lines[at]
    return b"\n".join(lines)


def _narrow(content: bytes, chance: random.Random) -> bytes:
    """Lines end where a terminal or a column did, all or one; the rest goes or follows."""
    lines, width = content.split(b"\n"), chance.choice((20, 40, 79, 80, 132))
    chosen = chance.choice((range(len(lines)), [chance.randrange(len(lines))]))
    rest = chance.random() < 0.3
    for at in chosen:
        cut = width if len(chosen) > 1 else chance.randrange(len(lines[at]) + 1)
        lines[at] = lines[at][:cut] + (b"\n" + lines[at][cut:] if rest else b"")
    return b"\n".join(lines)


def _second_identity(content: bytes, chance: random.Random) -> bytes:
    """Two things get one name or number, or one thing has two, or two spellings of one."""
    found = chance.choice((_WORD, _IDENTITY)).findall(content)
    if not found:
        return content
    one, other = chance.choice(found), chance.choice(found)
    spelled = one.swapcase(), one.rstrip(b'"') + b".example.org" + one[:1]
    return content.replace(one, chance.choice((other, other, *spelled)), chance.choice((-1, 1, 2)))


def _complaining(content: bytes, chance: random.Random) -> bytes:
    """The tool that wrote it complained into the same file, at times instead of its lines."""
    lines = content.split(b"\n")
    for _ in range(chance.choice((1, 1, 3))):
        at = chance.randrange(len(lines) + 1)
        lines[at : at + chance.choice((0, 0, 0, 1, 9))] = [chance.choice(_COMPLAINTS)]
    return b"\n".join(lines)


def _flipped_bit(content: bytes, chance: random.Random) -> bytes:
    if not content:
        return content
    at = chance.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1 :]


def _json_places(value: Any) -> list[tuple[Any, Any]]:
    places: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        places += [(holder, key) for key in keys]
        waiting += [holder[key] for key in keys if isinstance(holder[key], dict | list)]
    return places


def _json(content: bytes, chance: random.Random) -> bytes:
    """A value in JSON becomes another, goes, or comes twice."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return _fields(content, chance)
    if not isinstance(value, dict | list) or not (places := _json_places(value)):
        return content
    holder, key = chance.choice(places)
    what = chance.randrange(6)
    if what == 0:
        del holder[key]
    elif what == 1 and isinstance(holder, list):
        holder.insert(0, copy.deepcopy(holder[key]))
    elif what == 2 and isinstance(holder, dict):
        holder[chance.choice(("unknown", "", "name", "π"))] = holder[key]
    elif what == 3 and isinstance(holder[key], int | float):
        holder[key] = holder[key] + chance.choice((-1, 1, 0.5, 100))
    elif what == 4 and isinstance(holder[key], str):
        holder[key] = chance.choice(HOSTILE).decode("utf-8", "replace")
    else:
        holder[key] = chance.choice(_EXTREMES)
    try:
        return json.dumps(value).encode()
    except (ValueError, OverflowError):
        return content


def _table(content: bytes, chance: random.Random) -> bytes:
    """Rows or values of a Parquet table change; it is whole still."""
    try:
        table = pl.read_parquet(io.BytesIO(content))
    except BaseException:
        return _flipped_bit(content, chance)
    column = chance.choice(table.columns)
    what = chance.randrange(6)
    if what == 0:
        table = table.sample(fraction=1.0, shuffle=True, seed=chance.randrange(1 << 30))
    elif what == 1:
        table = table.head(chance.randrange(table.height + 1))
    elif what == 2:
        table = pl.concat([table, table.tail(3)])
    elif what == 3:
        table = table.drop(column) if chance.random() < 0.3 else table.reverse()
    elif what == 4 and table[column].dtype.is_numeric():
        other = chance.choice(table[column].to_list())
        table = table.with_columns(pl.lit(other, table[column].dtype).alias(column))
    elif table[column].dtype.is_float():
        extreme = chance.choice((0.0, -1.0, 1e300, -1e300, 5e-324, float("nan"), float("inf")))
        kept = pl.int_range(pl.len()) != chance.randrange(table.height + 1)
        changed = pl.when(kept).then(pl.col(column)).otherwise(pl.lit(extreme))
        table = table.with_columns(changed.alias(column))
    elif table[column].dtype == pl.String:
        name = chance.choice(HOSTILE).decode("utf-8", "replace")
        table = table.with_columns(pl.lit(name).alias(column))
    out = io.BytesIO()
    table.write_parquet(out, compression="uncompressed", statistics=False)
    return out.getvalue()


def _array(content: bytes, chance: random.Random) -> bytes:
    """A value of an array, or of one of an archive of arrays, changes, or its shape or type."""
    try:
        stored = np.load(io.BytesIO(content), allow_pickle=False)
        arrays = {"": stored} if isinstance(stored, np.ndarray) else dict(stored)
    except BaseException:
        return _flipped_bit(content, chance)
    if not arrays:
        return _flipped_bit(content, chance)
    name = chance.choice(list(arrays))
    array = np.array(arrays[name])
    what = chance.randrange(6)
    if what == 0:
        # Text that an earlier change made may be no number.
        with suppress(ValueError):
            array = array.astype(chance.choice(("f8", "f4", "i8", "u1", "c16", "?", "S4", "f2")))
    elif what == 1:
        array = array[..., : max(array.shape[-1] - 1, 0)] if array.ndim else array.reshape(1)
    elif what == 2 and name:
        arrays.pop(name)
    elif array.size:
        with suppress(OverflowError, ValueError, TypeError), np.errstate(all="ignore"):
            value = chance.choice((0, 1, 7, -1, 2**53, 2**62, float("nan"), float("inf"), 1e300))
            array.reshape(-1)[chance.randrange(array.size)] = value
    out = io.BytesIO()
    if "" in arrays:
        np.save(out, array)
    else:
        arrays.update({name: array} if name in arrays else {})
        np.savez(out, **arrays)
    return out.getvalue()


def _gzip(content: bytes) -> bytes:
    # Without the time, so that an input is the same again.
    return gzip.compress(content, mtime=0)


def _compressed_otherwise(content: bytes, chance: random.Random) -> bytes:
    packed = chance.choice((bz2.compress, lzma.compress, zstandard.compress, _gzip))
    return packed(content)


WORDS: dict[str, Mutation] = {
    "named": _named,
    "renumbered": _renumbered,
    "fields": _fields,
    "one line": _one_line,
    "written otherwise": _written_otherwise,
    "nested": _nested,
    "flipped bit": _flipped_bit,
}
TEXT: dict[str, Mutation] = {
    **WORDS,
    "labelled": _labelled,
    "narrow": _narrow,
    "second identity": _second_identity,
    "complaining": _complaining,
}
JSON: dict[str, Mutation] = {**TEXT, "JSON": _json, "JSON again": _json, "JSON thrice": _json}
TABLE: dict[str, Mutation] = {"table": _table, "flipped bit": _flipped_bit}
ARRAY: dict[str, Mutation] = {"array": _array, "flipped bit": _flipped_bit}
BINARY: dict[str, Mutation] = {"flipped bit": _flipped_bit, "named": _named}
PACKED: dict[str, Mutation] = {"packed": _compressed_otherwise, "flipped bit": _flipped_bit}


def _place(content: bytes, chance: random.Random) -> int:
    return chance.randrange(len(content) + 1)


def _cut_off(content: bytes, chance: random.Random) -> bytes:
    return content[: _place(content, chance)]


def _flipped_bytes(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 4, 64)) if changed else 0):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _binary(content: bytes, chance: random.Random) -> bytes:
    at = _place(content, chance)
    return content[:at] + chance.randbytes(chance.choice((1, 16, 4096))) + content[at:]


def _duplicate(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    at = chance.randrange(len(lines))
    block = lines[at : at + chance.choice((1, 1, 5, 50))]
    return b"".join(lines[:at] + block * chance.choice((1, 2, 300)) + lines[at:])


def _interleave(content: bytes, chance: random.Random) -> bytes:
    noise = (
        b"ibwarn: [1234] mad_rpc: _do_madrpc failed; dport (Lid 7)\n",
        b"-E- some error without its end",
        b"\n\n\n",
        b"\r\n",
        b'"',
        b"{ ",
        b"START_NODES\n",
        b"[0x]",
    )
    changed = content
    for _ in range(chance.choice((1, 5))):
        at = _place(changed, chance)
        changed = changed[:at] + chance.choice(noise) + changed[at:]
    return changed


def _shuffle(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    for _ in range(min(len(lines), chance.choice((2, 20, 2000)))):
        one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def _drop_lines(content: bytes, chance: random.Random) -> bytes:
    kept = chance.random()
    return b"".join(line for line in content.splitlines(keepends=True) if chance.random() < kept)


_ANY_NUMBER = re.compile(rb"0x[0-9A-Fa-f]+|\d+|(?<=:)[0-9A-Fa-f]{2,16}")
_ABSURD = (
    *(b"0", b"-1", b"1e9", b"00000000000000000001", b"0x", b"255", b"254", b"256", b"65535"),
    *(b"65536", b"49152", b"4294967295", b"4294967296", b"18446744073709551615"),
    *(b"18446744073709551616", b"0xffffffffffffffff", b"0x10000000000000000", b"9" * 5000),
    *("٣".encode(), b"N/A", b"", b"FFFF", b"FF"),
)


def _absurd_numbers(content: bytes, chance: random.Random) -> bytes:
    found = list(_ANY_NUMBER.finditer(content))
    changed = content
    chosen = chance.sample(found, min(len(found), chance.choice((1, 1, 3, 30))))
    for match in sorted(chosen, key=lambda match: -match.start()):
        changed = changed[: match.start()] + chance.choice(_ABSURD) + changed[match.end() :]
    return changed


def _absurd_words(content: bytes, chance: random.Random) -> bytes:
    """Eight bytes in a row become a huge or a small little-endian number."""
    at = _place(content, chance)
    number = chance.choice((0, 1, 255, 1 << 16, 1 << 20, 1 << 22, 1 << 31, 1 << 40, (1 << 64) - 1))
    return content[:at] + number.to_bytes(8, "little") + content[at + 8 :]


def _stretch(content: bytes, chance: random.Random) -> bytes:
    at = _place(content, chance)
    piece = content[at : at + chance.choice((1, 2, 30))]
    return content[:at] + piece * chance.choice((10, 1000, 30000)) + content[at:]


ANY: dict[str, Mutation] = {
    "cut off": _cut_off,
    "flipped": _flipped_bytes,
    "binary": _binary,
    "duplicated": _duplicate,
    "interleaved": _interleave,
    "shuffled": _shuffle,
    "lines dropped": _drop_lines,
    "absurd numbers": _absurd_numbers,
    "absurd words": _absurd_words,
    "stretched": _stretch,
}


def mutated(seeds: list[bytes], own: dict[str, Mutation], chance: random.Random) -> bytes:
    """A seed, mutated once or twice: by what knows its structure two times of three."""
    content = chance.choice(seeds)
    for _ in range(chance.choice((1, 1, 1, 2))):
        ways = own if chance.random() < 0.67 else ANY
        content = ways[chance.choice(list(ways))](content, chance)
    return content[:LARGEST]
