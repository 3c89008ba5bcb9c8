"""Programs that run in the kernel (BPF), by its system call."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Sequence

Instruction = tuple[int, int, int, int]
"""Code, registers (source above target), offset and number of an instruction."""

# The number of the system call, by machine.
_CALL = {"x86_64": 321, "aarch64": 280, "riscv64": 280, "ppc64le": 361, "s390x": 351}
_CREATE, _ARRAY, _MAP = 0, 2, struct.Struct("=IIIII")
_LOAD, _CLASSIFIER, _PROGRAM = 5, 3, struct.Struct("=IIQQIIQII")
_INSTRUCTION = struct.Struct("=BBhi")


def make_counts(entries: int) -> int:
    """Makes an array of 32-bit numbers, all 0, for programs; the file descriptor that keeps it.

    Raises:
        OSError: without the right to, or where there is no BPF.
    """
    return _ask(_CREATE, _MAP.pack(_ARRAY, 4, 4, entries, 0))


def load_classifier(instructions: Sequence[Instruction]) -> int:
    """Loads a program that looks at packets; the file descriptor that keeps it.

    Raises:
        OSError: without the right to, where there is no BPF, or for a program that could do harm.
    """
    code = ctypes.create_string_buffer(b"".join(_INSTRUCTION.pack(*each) for each in instructions))
    licence = ctypes.create_string_buffer(b"none")
    given = (_CLASSIFIER, len(instructions), ctypes.addressof(code), ctypes.addressof(licence))
    return _ask(_LOAD, _PROGRAM.pack(*given, 0, 0, 0, 0, 0))


def _ask(command: int, given: bytes) -> int:
    """Asks the kernel's BPF for something; its file descriptor."""
    number = _CALL.get(os.uname().machine)
    if number is None:
        raise OSError(errno.ENOSYS, f"no call for BPF on {os.uname().machine} is known")
    request = ctypes.create_string_buffer(given, len(given))
    made: int = ctypes.CDLL(None, use_errno=True).syscall(number, command, request, len(given))
    if made < 0:
        failed = ctypes.get_errno()
        raise OSError(failed, os.strerror(failed))
    return made
