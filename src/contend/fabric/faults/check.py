"""What a check of a fabric says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from contend.fabric.fabric import Fabric

MOST_DETAILS = 10


class Status(StrEnum):
    """Result of a check."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Fault:
    """Something that a check found."""

    words: str
    """What it is, as a clause."""
    places: Sequence[str] = ()
    """Places by name."""
    remedy: str = ""
    """What to do; "" where the words say it."""


@dataclass(frozen=True)
class Check:
    """One thing that was checked."""

    name: str
    """What was checked, in a few words."""
    status: Status
    """``ok``, ``warning`` for what may be intended, ``wrong`` for what needs repair, or ``not
    checked`` for what the file does not tell."""
    summary: str
    """What was found, in one line."""
    details: tuple[str, ...] = ()
    """Places by name, at most ten."""
    remedy: str = ""
    """What to do; "" when all is well."""

    @classmethod
    def of(cls, name: str, sound: str, *faults: Fault, status: Status = Status.WARNING) -> Check:
        """A check by all that it found, in one line each for words and remedies.

        Args:
            name: what was checked.
            sound: what is said where nothing was found.
            faults: what matters most first.
            status: where there are any.
        """
        if not faults:
            return cls(name, Status.OK, sound)
        places = tuple(place for fault in faults for place in fault.places)
        remedies = [fault.remedy for fault in faults if fault.remedy]
        summary = "; ".join(fault.words for fault in faults)
        return cls(name, status, summary, places[:MOST_DETAILS], "; ".join(remedies))


def placed_host(fabric: Fabric, host: int) -> str:
    """A host and where it hangs, for people."""
    where = fabric.port_name(fabric.host_switch[host], fabric.host_port[host])
    return f'host "{fabric.host_name[host]}" on {where}'
