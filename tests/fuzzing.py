"""A driver that feeds damaged files to a reader and tells which of them it does not bear."""

from __future__ import annotations

import random
import re
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from contend.errors import ContendError

MEMORY = 1 << 30
SECONDS = 20.0

Read = Callable[[bytes], object]
Mutation = Callable[[bytes, random.Random], bytes]


class TookTooLong(BaseException):
    """The reader did not come back; no handler of the reader may swallow it."""


@dataclass(frozen=True)
class Fault:
    """An input that a reader did not bear, and what came of it."""

    mutation: str
    content: bytes
    error: BaseException

    def __str__(self) -> str:
        return f"{self.mutation}: {self.error!r} on {self.content[:300]!r}"


def drive(read: Read, seeds: list[bytes], *, rounds: int, seed: int = 0) -> list[Fault]:
    """Reads `rounds` damaged copies of the seeds; whatever escapes but a ContendError is a fault.

    Memory beyond 1 GiB and more than 20 s of one reading are faults as well.
    """
    chance = random.Random(seed)
    faults: list[Fault] = []
    names = list(MUTATIONS)
    with memory_bounded():
        for number in range(rounds):
            name = names[number % len(names)]
            content = MUTATIONS[name](chance.choice(seeds), chance)
            # Faults seldom come alone.
            if chance.random() < 0.3:
                second = chance.choice(names)
                name, content = f"{name}, {second}", MUTATIONS[second](content, chance)
            fault = _tried(read, content[: 1 << 20])
            if fault is not None:
                faults.append(Fault(name, content, fault))
    return faults


def _tried(read: Read, content: bytes) -> BaseException | None:
    try:
        with time_bounded():
            read(content)
    except ContendError:
        return None
    except (Exception, TookTooLong) as error:
        return error
    return None


@contextmanager
def memory_bounded() -> Iterator[None]:
    """Limits the address space to what is in use now and 1 GiB more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def time_bounded() -> Iterator[None]:
    def stop(signal_number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    previous = signal.signal(signal.SIGVTALRM, stop)
    # Time of this process, so that a busy machine makes no faults.
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


def _place(content: bytes, chance: random.Random) -> int:
    return chance.randrange(len(content) + 1)


def _cut_off(content: bytes, chance: random.Random) -> bytes:
    return content[: _place(content, chance)]


def _flip(content: bytes, chance: random.Random) -> bytes:
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


_NUMBER = re.compile(rb"0x[0-9A-Fa-f]+|\d+|(?<=:)[0-9A-Fa-f]{2,16}")
_ABSURD = (
    *(b"0", b"-1", b"1e9", b"00000000000000000001", b"0x", b"255", b"254", b"256", b"65535"),
    *(b"65536", b"49152", b"4294967295", b"4294967296", b"18446744073709551615"),
    *(b"18446744073709551616", b"0xffffffffffffffff", b"0x10000000000000000", b"9" * 5000),
    *("٣".encode(), b"N/A", b"", b"FFFF", b"FF"),
)


def _absurd_numbers(content: bytes, chance: random.Random) -> bytes:
    found = list(_NUMBER.finditer(content))
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


MUTATIONS: dict[str, Mutation] = {
    "cut off": _cut_off,
    "flipped": _flip,
    "binary": _binary,
    "duplicated": _duplicate,
    "interleaved": _interleave,
    "shuffled": _shuffle,
    "lines dropped": _drop_lines,
    "absurd numbers": _absurd_numbers,
    "absurd words": _absurd_words,
    "stretched": _stretch,
}
