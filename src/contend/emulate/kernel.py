"""Namespaces: made, entered, and configured; each call here is for the calling thread alone."""

from __future__ import annotations

import ctypes
import errno
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from contend.errors import MissingError

_Result = TypeVar("_Result")

_NEW_NETWORK = 0x40000000
_OWN = "/proc/thread-self/ns/net"
_C = ctypes.CDLL(None, use_errno=True)


def in_a_thread(work: Callable[[], _Result]) -> _Result:
    """Does work in a thread of its own, so that no other ever leaves its namespace."""
    results: list[_Result] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        # Whatever it is, it belongs to the caller.
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=run, name="contend-emulate")
    thread.start()
    try:
        thread.join()
    except BaseException:
        # Half-done work could not be undone.
        thread.join()
        raise
    if faults:
        raise faults[0]
    return results[0]


def new_namespace() -> int:
    """Makes a network namespace and enters it; the file descriptor that keeps it.

    Raises:
        MissingError: without the right to, or in a kernel that has none.
    """
    if _C.unshare(_NEW_NETWORK):
        number = ctypes.get_errno()
        if number == errno.EPERM:
            raise MissingError(
                "emulating a fabric needs the right to make network namespaces: run it as root"
            )
        if number == errno.ENOSPC:
            raise MissingError("this machine allows no more network namespaces")
        raise MissingError(f"this kernel makes no network namespaces: {os.strerror(number)}")
    return os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC)


def enter(namespace: int) -> None:
    """Enters a network namespace."""
    if _C.setns(namespace, _NEW_NETWORK):
        number = ctypes.get_errno()
        raise MissingError(f"a network namespace cannot be entered: {os.strerror(number)}")


def configure(settings: Mapping[str, str]) -> None:
    """Sets what this namespace's kernel does; what this kernel does not know is left out."""
    for name, value in settings.items():
        path = Path("/proc/sys/net", *name.split("."))
        try:
            path.write_text(value, encoding="ascii")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise MissingError(f"{path}: {error.strerror}") from error
