"""The kernel: network namespaces of threads, and requests about links, many at a time."""

from __future__ import annotations

import errno
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from contend.base.errors import ContendError, MissingError
from contend.base.process import enter_network, new_network

_Result = TypeVar("_Result")

_HEADER = struct.Struct("=IHHII")
_SEQUENCE = struct.Struct("=I")
_ERROR = struct.Struct("=i")
_SEQUENCE_AT = 8
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_SOL_NETLINK, _NETLINK_CAP_ACK = 270, 10
# Answers to so many requests fit the receive buffer of a socket, and they one send buffer.
_AT_ONCE = 100
_READ = 1 << 18


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
    try:
        return new_network()
    except OSError as error:
        if error.errno == errno.EPERM:
            raise MissingError(
                "emulating a fabric needs root: contend may not make network namespaces"
            ) from None
        if error.errno == errno.ENOSPC:
            raise MissingError("this machine allows no more network namespaces") from None
        raise MissingError(
            f"the kernel refused to make a network namespace: {error.strerror}"
        ) from None


def enter(namespace: int) -> None:
    """Enters a network namespace."""
    try:
        enter_network(namespace)
    except OSError as error:
        raise MissingError(f"cannot enter a network namespace: {error.strerror}") from None


def configure(settings: Mapping[str, str]) -> None:
    """Sets what this namespace's kernel does; what this kernel does not know is left out."""
    for name, value in settings.items():
        path = _setting(name)
        try:
            path.write_text(value, encoding="ascii")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise MissingError(f"{path}: {error.strerror}") from error


def setting(name: str) -> str | None:
    """What this namespace's kernel does; None for what this kernel does not know."""
    try:
        return _setting(name).read_text("ascii").replace("\t", " ").strip()
    except OSError:
        return None


def is_known(name: str) -> bool:
    """Whether this kernel has a setting of that name."""
    return _setting(name).exists()


def _setting(name: str) -> Path:
    return Path("/proc/sys/net", *name.split("."))


@dataclass(frozen=True)
class KernelRequest:
    """One request, as the kernel reads it, and what it is for a person."""

    data: bytes
    what: str


class RefusedError(ContendError):
    """The kernel refused a request."""

    status = 3

    def __init__(self, number: int, what: str) -> None:
        super().__init__(f"{what}: {os.strerror(number)}")
        self.number = number
        """Error number of the kernel."""
        self.what = what
        """What was asked."""


class Netlink:
    """A socket to the kernel's routing family, in the namespace of the thread that makes it."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        # Answers without a copy of the request: more of them fit the buffer.
        self._socket.setsockopt(_SOL_NETLINK, _NETLINK_CAP_ACK, 1)
        self._socket.bind((0, 0))
        self._sequence = 0

    def close(self) -> None:
        """Closes the socket; with it goes the hold that it has on its namespace."""
        self._socket.close()

    def apply(self, requests: Sequence[KernelRequest]) -> None:
        """Sends requests in few batches and waits until the kernel has granted all.

        Raises:
            RefusedError: for the first that was not granted.
        """
        for start in range(0, len(requests), _AT_ONCE):
            self._apply(requests[start : start + _AT_ONCE])

    def dump(self, request: KernelRequest) -> Iterator[bytes]:
        """The whole messages that answer a request for a list.

        Raises:
            RefusedError: when there is none.
        """
        self._send([request])
        while True:
            for kind, message in self._receive():
                if kind == _NLMSG_DONE:
                    return
                if kind == _NLMSG_ERROR:
                    _check(message, request)
                yield message

    def _apply(self, requests: Sequence[KernelRequest]) -> None:
        first = self._send(requests)
        waiting = len(requests)
        fault: RefusedError | None = None
        while waiting:
            for kind, message in self._receive():
                if kind != _NLMSG_ERROR:
                    continue
                waiting -= 1
                number = _SEQUENCE.unpack_from(message, _SEQUENCE_AT)[0] - first
                try:
                    _check(message, requests[number])
                except RefusedError as error:
                    fault = fault or error
        if fault is not None:
            raise fault

    def _send(self, requests: Sequence[KernelRequest]) -> int:
        first = self._sequence + 1
        batch = bytearray()
        for request in requests:
            self._sequence += 1
            start = len(batch)
            batch += request.data
            _SEQUENCE.pack_into(batch, start + _SEQUENCE_AT, self._sequence)
        self._socket.send(batch)
        return first

    def _receive(self) -> Iterator[tuple[int, bytes]]:
        data = self._socket.recv(_READ)
        at = 0
        while at < len(data):
            length, kind, *_ = _HEADER.unpack_from(data, at)
            yield kind, data[at : at + length]
            at += (length + 3) & ~3


def _check(message: bytes, request: KernelRequest) -> None:
    number = -_ERROR.unpack_from(message, _HEADER.size)[0]
    if number:
        raise RefusedError(number, request.what)
