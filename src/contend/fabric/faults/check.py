"""What a check of a fabric says."""

from __future__ import annotations

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
class Check:
    """One thing that was checked.

    Attributes:
        name: what was checked, in a few words.
        status: a warning may be intended; what is wrong needs repair. What the file does not tell
            is not checked.
        summary: what was found, in one line.
        details: the places by name, at most `MOST_DETAILS`.
        remedy: what to do; "" when all is well.
    """

    name: str
    status: Status
    summary: str
    details: tuple[str, ...] = ()
    remedy: str = ""


def placed_host(fabric: Fabric, host: int) -> str:
    """A host and where it hangs, for people."""
    where = fabric.port_name(fabric.host_switch[host], fabric.host_port[host])
    return f'host "{fabric.host_name[host]}" on {where}'
