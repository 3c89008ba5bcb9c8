"""Names that launchers and shells accept for hosts and switches of any name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MANAGEMENT = "management"
"""The name of the side from which commands are started."""
_OTHERS = re.compile(r"[^A-Za-z0-9]+")
# What the kernel takes as a host name is 64 bytes long; a number may have to be added.
_LONGEST = 55


def labels(names: Iterable[str], kind: str, taken: set[str]) -> Iterator[str]:
    """A host name for every name, each different, also from those taken, which grow.

    Letters, digits and dashes stay. What would begin with a digit, and so pass for an address,
    gets the kind in front: host ``1`` becomes ``host-1``.
    """
    for name in names:
        plain = _OTHERS.sub("-", name).strip("-")[:_LONGEST].rstrip("-")
        if not plain[:1].isalpha():
            plain = f"{kind}-{plain}".rstrip("-")
        label, number = plain, 2
        while label.lower() in taken:
            label, number = f"{plain}-{number}", number + 1
        taken.add(label.lower())
        yield label
