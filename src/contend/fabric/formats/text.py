"""What the text formats share: names on one line, and the space of LIDs."""

from __future__ import annotations

import re

from contend.errors import UsageError
from contend.fabric.fabric import Fabric
from contend.fabric.subnet import LARGEST_LID

_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


def one_line(name: str) -> str:
    """A name without control characters, each a space instead, as ibnetdiscover prints them."""
    return _CONTROL.sub(" ", name)


def in_quotes(name: str) -> str:
    """A name to stand between double quotes in a format that knows no escapes."""
    return one_line(name).replace('"', "'")


def check_lids(fabric: Fabric, kind: str) -> None:
    """Refuses a fabric whose addresses are no LIDs.

    Raises:
        UsageError: an address above 49151, where unicast LIDs end.
    """
    last_of_hosts = fabric.host_lid.astype("u8") + (1 << fabric.host_lmc.astype("u8")) - 1
    lids = (last_of_hosts, fabric.switch_lid, fabric.other_lid)
    largest = max(int(column.max(initial=0)) for column in lids)
    if largest > LARGEST_LID:
        raise UsageError(
            f"{kind} cannot hold this fabric: unicast LIDs end at {LARGEST_LID}, but it needs "
            f"{largest}; a .fabric file can"
        )
