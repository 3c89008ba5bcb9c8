"""Programs of the user's: how ranks that load a library first are started, here or elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from contend.errors import MissingError
from contend.measurement.place import Place, RealHosts, Shape
from contend.mpi import Launch, Library, Preloaded, launch_folder, library_of, prepare, select

Load = Callable[[str | None], Preloaded]
"""The command with what its ranks load first; given the library as `select` takes it, or None."""


@contextmanager
def ready_command(
    words: Sequence[str], load: Load, mpi: str | None, shape: Shape | None, place: Place | None
) -> Iterator[tuple[list[str], Mapping[str, str]]]:
    """The whole command line and environment of a program whose ranks load a library first.

    Args:
        words: the command; where `shape` is None it starts its ranks by itself.
        load: what ranks load.
        mpi: the MPI library; None: that of the command, or else the first usable one.
        shape: ranks that contend starts.
        place: where it does so; None for this machine.

    Raises:
        MissingError: no library can be told, or it is not usable.
    """
    if shape is None:
        loaded = load(mpi)
        yield list(loaded.words), {**os.environ, **loaded.variables}
        return
    library = _library(words, mpi)
    loaded = load(library.wrapper)
    # The launch itself passes variables on to all hosts.
    variables = {
        name: value for name, value in loaded.variables.items() if not name.startswith("OMPI_")
    }
    request = Launch(library, shape.ranks, shape.ranks_per_host, shape.hosts, environment=variables)
    with launch_folder() as scratch:
        _, started, environment = prepare((place or RealHosts()).ready(request), scratch)
        yield [*started, *words], environment


def _library(words: Sequence[str], mpi: str | None) -> Library:
    """The library of a program whose ranks contend starts; scripts do not tell theirs."""
    if mpi is not None:
        return select(mpi)
    try:
        return library_of(words)
    except MissingError:
        return select()
