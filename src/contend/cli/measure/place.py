"""Where the command line wants ranks to run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from contend.cli.measure.options import Common
from contend.placement.host_file import read_host_names

if TYPE_CHECKING:
    from contend.measurement.place import Place


@contextmanager
def find_place(common: Common) -> Iterator[Place | None]:
    """The hosts of a host file, or this machine; None when a run that goes on knows its own.

    Raises:
        UsageError: for options that do not fit together.
        InputError: for a host file that is none.
    """
    if common.resume is not None and common.on is None:
        yield None
        return
    # Imported here, as in all of this verb: measuring takes longer to load than other verbs run.
    from contend.measurement.place import RealHosts

    slots = () if common.on is None else read_host_names(common.on)
    yield RealHosts(slots=slots, launcher=common.launcher, host_memory=common.memory())
