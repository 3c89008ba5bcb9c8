"""How packets are carried: options that verbs share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, Any

from contend import congestion
from contend.base.errors import UsageError
from contend.base.units import checked_times, parse_seconds, parse_size
from contend.cli.options.option import Bytes, Option, Seconds, option, parsed
from contend.cli.options.shared import BUFFER, BYTES, MODEL


class ModelChoice(StrEnum):
    """What is simulated."""

    COUNTED = "counted"
    PACKETS = "packets"


class QueuesChoice(StrEnum):
    """What --queues takes."""

    FIFO = "fifo"
    VOQ = "voq"
    BOTH = "both"


QUEUES = Option(("--queues",), None, "How switches keep packets")
MTU = option("--mtu", takes="SIZE", means="Bytes of a packet", by=parse_size)
SWITCH_LATENCY = option(
    "--switch-latency",
    takes="TIME",
    means="Time from a packet's first bit at a switch",
    by=parse_seconds,
)
CABLE_LATENCY = option(
    "--cable-latency", takes="TIME", means="Time that bits take along each cable", by=checked_times
)


@dataclass(frozen=True)
class PacketOptions:
    """How packets are carried. A verb that takes one has all options that say it."""

    model: Annotated[
        ModelChoice, MODEL(": messages counted on channels, or carried out as packets, too.")
    ] = ModelChoice.COUNTED
    queues: Annotated[
        QueuesChoice | None,
        QUEUES(
            ": in one queue for each port, or in one for each way out; both bracket real switches.",
            default="both",
        ),
    ] = None
    buffer: Annotated[
        Bytes | None, BUFFER("0 is any number, for --model packets.", default="64KiB")
    ] = None
    mtu: Annotated[Bytes | None, MTU(default="4KiB")] = None
    switch_latency: Annotated[
        Seconds | None, SWITCH_LATENCY("until it can leave it.", default="130ns")
    ] = None
    cable_latency: Annotated[
        str | None,
        CABLE_LATENCY("or by kind: hosts=10ns,switches=50ns,level3=5us.", default="20ns"),
    ] = None
    bytes: Annotated[
        str | None, BYTES("With steady, hosts send all the time.", default="steady")
    ] = None

    @property
    def asked(self) -> bool:
        """Whether packets are carried out.

        Raises:
            UsageError: options for packets without them.
        """
        given = [name for name in _OF_PACKETS if getattr(self, name) is not None]
        if given and self.model != ModelChoice.PACKETS:
            raise UsageError(f"--{given[0].replace('_', '-')} goes with --model packets")
        return self.model == ModelChoice.PACKETS

    def arguments(self) -> dict[str, Any]:
        """As `contend.simulate_packets` takes them."""
        both = self.queues in (None, QueuesChoice.BOTH)
        queues = tuple(congestion.Queues) if both else (str(self.queues),)
        taken: dict[str, Any] = {"queues": queues}
        taken |= {
            name: value
            for name in ("buffer", "mtu", "switch_latency", "cable_latency")
            if (value := getattr(self, name)) is not None
        }
        if self.bytes not in (None, "steady"):
            taken["message_bytes"] = parsed("--bytes", parse_size)(self.bytes)
        return taken


_OF_PACKETS = tuple(field.name for field in fields(PacketOptions) if field.name != "model")
