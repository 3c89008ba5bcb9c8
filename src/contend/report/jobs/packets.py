"""Jobs packet by packet: who is held up by whom that counting does not see."""

from __future__ import annotations

from collections.abc import Mapping

from contend.base.units import counted, format_bytes
from contend.congestion import PacketJobs
from contend.cure import Jobs
from contend.fabric import Fabric
from contend.report.jobs.words import ROWS, channel_words, labels, points
from contend.report.table import Number, ResultTable, table_of


def packets_sentence(found: Jobs) -> str:
    """Which job loses most to another one, packet by packet, that counting does not see."""
    if found.packets is None:
        return ""
    unseen = [one for one in found.packets.held_up if one.counted < one.loss / 2]
    if not unseen:
        return "Packet by packet, no job loses more to another one than by counting."
    # Sharing no cable, they look like strangers.
    worst, called = min(unseen, key=lambda one: (one.shares, -one.loss)), labels(found)
    cable = "" if worst.shares else ", with which it never shares a cable"
    return (
        f"Packet by packet, {called[worst.job]} loses {points(worst.loss, worst.margin)} points "
        f"because of {called[worst.by]}{cable}, by counting {100 * worst.counted:.1f}: it waits "
        f"for {channel_words(found.fabric, worst.channel)} ({worst.queues})."
    )


def packets_tables(
    found: PacketJobs, fabric: Fabric, called: Mapping[str, str]
) -> list[ResultTable]:
    """What jobs get packet by packet, and who holds whom up."""
    sends = "hosts send all the time"
    if found.message_bytes is not None:
        sends = f"messages of {format_bytes(found.message_bytes)}"
    tables = [
        table_of(
            "Jobs packet by packet",
            found.jobs[:ROWS],
            {
                "job": lambda job: called[job.job],
                "queues": lambda job: job.queues.value,
                "alone": "alone",
                "beside others": "beside",
                "by counting": "counted",
            },
            note=f"{counted(found.samples, 'sample')}, {sends}, packets of "
            f"{format_bytes(found.mtu)}, buffers of {format_bytes(found.buffer)}",
        )
    ]
    if found.held_up:
        tables.append(
            table_of(
                "Jobs that are held up by packets of another one",
                found.held_up,
                {
                    "job": lambda one: called[one.job],
                    "because of": lambda one: called[one.by],
                    "loses": Number(lambda one: points(one.loss, one.margin)),
                    "by counting": Number(lambda one: f"{100 * one.counted:.1f}"),
                    "queues": lambda one: one.queues.value,
                    "share a cable": lambda one: "yes" if one.shares else "no",
                    "waits for": lambda one: channel_words(fabric, one.channel),
                },
                note="what it gets more where the other one does not run, all others beside both",
            )
        )
    return tables
