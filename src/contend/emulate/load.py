"""Streams of bytes between emulated hosts, pumped by this process alone."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from contend.emulate.construct import Spaces

_PORT = 7
_PIECE = memoryview(bytes(1 << 16))
_PATIENCE = 5.0


@dataclass
class Stream:
    """A connection from a host to another.

    Attributes:
        sender: in the namespace of one host.
        receiver: in that of the other.
        left: bytes still to be sent; None for as many as go.
        received: bytes that have arrived.
    """

    sender: socket.socket
    receiver: socket.socket
    left: int | None = None
    received: int = 0

    def close(self) -> None:
        """Closes both ends."""
        self.sender.close()
        self.receiver.close()


def connect(spaces: Spaces, pairs: Sequence[tuple[int, int]]) -> list[Stream]:
    """A TCP connection for every pair (source, target) of hosts, by their place in the plan."""
    listening = {
        target: spaces.within(target, _listen) for target in sorted({target for _, target in pairs})
    }
    streams = []
    try:
        for source, target in pairs:
            sender = spaces.within(source, socket.socket)
            sender.settimeout(_PATIENCE)
            # One after the other, so that the next one to be accepted is this one.
            sender.connect((spaces.plan.nodes[target].address, _PORT))
            receiver, _ = listening[target].accept()
            streams.append(Stream(sender, receiver))
            for end in (sender, receiver):
                end.setblocking(False)
    finally:
        for listener in listening.values():
            listener.close()
    return streams


def pump(streams: Sequence[Stream], seconds: float) -> float:
    """Sends over all streams until all that is to be sent has arrived, or time is over.

    Returns:
        The seconds that it took.
    """
    began = time.monotonic()
    deadline = began + seconds
    endless = any(stream.left is None for stream in streams)
    expected = {id(one): one.received + one.left for one in streams if one.left is not None}
    buffer = bytearray(1 << 18)
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream.sender, selectors.EVENT_WRITE, stream)
            selector.register(stream.receiver, selectors.EVENT_READ, stream)
        while (endless or expected) and (now := time.monotonic()) < deadline:
            for key, events in selector.select(deadline - now):
                moved: Stream = key.data
                if events & selectors.EVENT_WRITE:
                    if not _send(moved):
                        selector.unregister(moved.sender)
                    continue
                moved.received += _receive(moved, buffer)
                if moved.received == expected.get(id(moved)):
                    del expected[id(moved)]
                    selector.unregister(moved.receiver)
    return time.monotonic() - began


def _send(stream: Stream) -> bool:
    """Sends what goes; whether there is more to send."""
    with suppress(BlockingIOError):
        if stream.left is None:
            stream.sender.send(_PIECE)
        else:
            stream.left -= stream.sender.send(_PIECE[: stream.left])
    return stream.left != 0


def _receive(stream: Stream, buffer: bytearray) -> int:
    with suppress(BlockingIOError):
        return stream.receiver.recv_into(buffer)
    return 0


def _listen() -> socket.socket:
    listener = socket.socket()
    listener.settimeout(_PATIENCE)
    listener.bind(("", _PORT))
    listener.listen()
    return listener
