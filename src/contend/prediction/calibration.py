"""What messages cost in some place under some MPI library, as it is kept in a file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.files import json_text, read_json, write_whole
from contend.base.schema import Shown
from contend.base.units import format_seconds
from contend.lab.emulation import PACKET, packets_at_once
from contend.traffic.schedule import Cables, Costs, MessageClass

FILE = "calibration.json"
VERSION = 1

COPY_PER_BYTE = 2e-10
"""Seconds in which a rank copies a byte within its memory: a usual figure, which hardly counts."""

# Bytes of the largest message that goes off at once, as the libraries are built for TCP. Open MPI's
# 64 KiB have the message's header in them.
_EAGER = {"Open MPI": 65_472, "MPICH": 131_072}
_EAGER_ELSEWHERE = 65_536

# What messages cost on today's networks where nothing was measured; a port's rate is that of 4xHDR.
_USUAL_PORT = 25e9
_USUAL_LATENCY, _USUAL_OVERHEAD = 1.2e-6, 0.3e-6
_OFF = 2.0
_HEADERS, _MOST_HEADERS = 1.03, 1.1

TWO_KINDS = "are of two kinds"
"""In each remark about a median that is of neither kind."""

Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]


class Parameter(msgspec.Struct, frozen=True):
    """A number with its 95 % interval."""

    value: NotNegative
    """Number."""
    low: NotNegative
    """Lower end."""
    high: NotNegative
    """Upper end; both are the number itself where it was not taken from samples."""

    @classmethod
    def exactly(cls, value: float) -> Parameter:
        """A number that is known."""
        return cls(value, value, value)


class SizeClass(msgspec.Struct, frozen=True, kw_only=True):
    """What messages of up to so many bytes cost."""

    up_to: Positive | None
    """Bytes of the largest message; null for all above the others."""
    eager: bool
    """Whether they go off at once, or when their receive has been posted."""
    latency_s: Parameter
    """Seconds from the last byte's leaving one host to its being at the other."""
    overhead_s: Parameter
    """Seconds of a processor, for a send or for a receive."""
    gap_s: Parameter
    """Seconds between the beginnings of two messages of a host."""
    gap_per_byte_s: Parameter
    """Seconds of a byte on an empty network."""


class Calibration(Shown, msgspec.Struct, frozen=True, kw_only=True):
    """``calibration.json``: LogGP parameters of a place and a library."""

    _told: ClassVar[str] = "calibration_document"

    version: int = VERSION
    """Version of this form."""
    contend: str = ""
    """Version of contend that made it."""
    created: str = ""
    """Instant in ISO 8601."""
    library: str = ""
    """MPI library and its version."""
    place: str = ""
    """Place where it was taken."""
    wire_Bps: Positive
    """Bytes per second that a host's port carries."""
    burst: NotNegative = 0.0
    """Bytes that a channel lets pass at once after a pause."""
    buffer: Positive | None = None
    """Bytes that wait for a channel at most; null where nobody knows."""
    between: tuple[SizeClass, ...]
    """Costs between two hosts, by size."""
    within: tuple[SizeClass, ...]
    """Costs within one host, by size."""
    extra_bytes: NotNegative = 0.0
    """Bytes on the wire for each message beside its own and what every byte of it costs."""
    copy_per_byte_s: NotNegative = 0.0
    """Seconds of a byte that a rank copies within its memory."""
    send_buffer: Parameter = Parameter(0.0, 0.0, 0.0)
    """Most bytes of a send that the host buffers, so that the send ends before they have left."""
    processors: Annotated[int, Meta(ge=0)] = 0
    """Number of processors that all ranks share; 0 where each has its own."""
    patience_s: NotNegative = 0.0
    """Seconds after which a waiting rank polls only occasionally."""
    look_every_s: Parameter = Parameter(0.0, 0.0, 0.0)
    """Seconds between those looks."""
    scatter_per_rank_s: Parameter = Parameter(0.0, 0.0, 0.0)
    """Seconds between the first rank's start of an operation and the last one's, for every rank
    that takes part and, where they share processors, every message that a rank sends before it
    waits."""
    remarks: tuple[str, ...] = ()
    """Remarks that a reader must know."""
    assumed: bool = False
    """Whether nothing was measured, see `assumed_costs`; links then have the rates that their
    fabric says."""

    def __post_init__(self) -> None:
        """Refuses classes that are not in order.

        Raises:
            ValueError: saying why.
        """
        for classes in (self.between, self.within):
            ends = [size_class.up_to for size_class in classes]
            ascending = [end for end in ends if end is not None]
            if (
                not ends
                or ends[-1] is not None
                or None in ends[:-1]
                or ascending != sorted(set(ascending))
            ):
                raise ValueError("size classes ascend, and the last one is for all above")
            largest = classes[-1].gap_per_byte_s
            if 0 in (largest.value, largest.low, largest.high):
                raise ValueError("a byte of the largest messages takes some time")

    @property
    def doubts(self) -> tuple[str, ...]:
        """What must be told with all that is predicted by it."""
        return tuple(text for text in self.remarks if self.assumed or TWO_KINDS in text)

    @property
    def ends(self) -> tuple[Calibration, Calibration]:
        """All parameters at the lower ends of their intervals, and all at the upper ones."""
        return self._at("low"), self._at("high")

    def _at(self, end: str) -> Calibration:
        def at(parameter: Parameter) -> Parameter:
            return Parameter.exactly(getattr(parameter, end))

        def of_class(size_class: SizeClass) -> SizeClass:
            return msgspec.structs.replace(
                size_class,
                latency_s=at(size_class.latency_s),
                overhead_s=at(size_class.overhead_s),
                gap_s=at(size_class.gap_s),
                gap_per_byte_s=at(size_class.gap_per_byte_s),
            )

        return msgspec.structs.replace(
            self,
            between=tuple(map(of_class, self.between)),
            within=tuple(map(of_class, self.within)),
            look_every_s=at(self.look_every_s),
            send_buffer=at(self.send_buffer),
        )

    @property
    def peak(self) -> float:
        """Bytes per second of what no channel holds back: those of messages within a host."""
        return max(1.0 / self.within[-1].gap_per_byte_s.value, 4 * self.wire_Bps)

    @property
    def eager_bytes(self) -> float:
        """Bytes of the largest message that goes off at once."""
        return max((one.up_to or math.inf for one in self.between if one.eager), default=0.0)

    def is_eager(self, size: int) -> bool:
        """Whether messages of a size go off at once between two hosts."""
        return next(
            size_class.eager
            for size_class in self.between
            if size_class.up_to is None or size <= size_class.up_to
        )

    def cables(self, rate: float | NDArray[np.float64], *, buffer: float | None = None) -> Cables:
        """Channels like those of the calibration, at another rate, or each at its own.

        Args:
            rate: bytes per second.
            buffer: bytes that wait for a channel at most; None for as many as there.
        """
        most = buffer or self.buffer or math.inf
        return Cables(
            rate=rate,
            burst=self.burst,
            piece=PACKET * packets_at_once(self.burst, most) if self.burst else 0.0,
            peak=max(self.peak, 4 * float(np.max(rate))),
        )

    def costs(self) -> Costs:
        """What messages cost beside the network."""
        return Costs(
            between=[
                _message_class(
                    size_class,
                    self.wire_Bps,
                    buffered=self.send_buffer.value,
                    extra=self.extra_bytes,
                )
                for size_class in self.between
            ],
            within=[_message_class(size_class, self.peak) for size_class in self.within],
            processors=self.processors,
            patience=self.patience_s,
            look_every=self.look_every_s.value,
        )


def _message_class(
    size_class: SizeClass, rate: float, *, buffered: float = 0.0, extra: float = 0.0
) -> MessageClass:
    return MessageClass(
        up_to=math.inf if size_class.up_to is None else size_class.up_to,
        latency=size_class.latency_s.value,
        send_overhead=size_class.overhead_s.value,
        receive_overhead=size_class.overhead_s.value,
        gap=size_class.gap_s.value,
        extra=extra,
        stretch=size_class.gap_per_byte_s.value * rate,
        eager=size_class.eager,
        buffered=buffered,
    )


def eager_limit(library: str) -> int:
    """Bytes of the largest message that goes off at once.

    Args:
        library: its name, or its name and version.
    """
    names = (name for name in _EAGER if library.startswith(name))
    return _EAGER.get(next(names, ""), _EAGER_ELSEWHERE)


def costs_of(path: Path | None, library: str = "Open MPI") -> Calibration:
    """What messages cost: as calibrated or, without a path, as assumed for a library.

    Raises:
        ContendError: as of `load_calibration`.
    """
    return assumed_costs(library) if path is None else load_calibration(path)


def assumed_costs(library: str) -> Calibration:
    """What messages cost by usual figures, where nothing was measured.

    Latency and overhead are those of messages on InfiniBand or RDMA over Ethernet, and may be half
    or twice as large; headers add 3 % to a byte, 0 to 10; within a host messages are copied twice;
    every rank has a processor of its own.

    Args:
        library: name and version of the MPI library, which sets how large eager messages are.
    """
    latency, overhead = (
        Parameter(usual, usual / _OFF, usual * _OFF) for usual in (_USUAL_LATENCY, _USUAL_OVERHEAD)
    )
    gap = Parameter(_HEADERS / _USUAL_PORT, 1 / _USUAL_PORT, _MOST_HEADERS / _USUAL_PORT)

    def classes(gap: Parameter, latency: Parameter) -> tuple[SizeClass, SizeClass]:
        eager, large = (
            SizeClass(
                up_to=up_to,
                eager=up_to is not None,
                latency_s=latency,
                overhead_s=overhead,
                gap_s=overhead,
                gap_per_byte_s=gap,
            )
            for up_to in (float(eager_limit(library)), None)
        )
        return eager, large

    return Calibration(
        library=library,
        place="nowhere: assumed",
        wire_Bps=_USUAL_PORT,
        between=classes(gap, latency),
        within=classes(Parameter.exactly(2 * COPY_PER_BYTE), Parameter.exactly(0.0)),
        copy_per_byte_s=COPY_PER_BYTE,
        remarks=(
            f"without a calibration, a message is assumed to take {format_seconds(_USUAL_LATENCY)} "
            f"and {format_seconds(_USUAL_OVERHEAD)} at each end (the interval spans half to twice "
            f"as much), headers to add {100 * (_HEADERS - 1):.0f} % to its bytes, and every rank "
            "to have a processor of its own",
        ),
        assumed=True,
    )


def save_calibration(path: Path, calibration: Calibration) -> None:
    """Writes a calibration whole or not at all."""
    write_whole(path, json_text(calibration))


def load_calibration(path: Path) -> Calibration:
    """Reads a calibration: its file, or the folder that ``contend calibrate`` left.

    Raises:
        UsageError: there is none.
        InputError: it is not what `save_calibration` writes, or of a newer version.
    """
    file = path / FILE if path.is_dir() else path
    try:
        return read_json(file, Calibration, "a calibration", version=VERSION)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}; contend calibrate makes one") from None
