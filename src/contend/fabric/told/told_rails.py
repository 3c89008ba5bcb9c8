"""Which hosts are on which rail of which server, as a file tells it; columns of a .fabric file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import InputError

NONE = "-"
"""Stands for an adapter that a server lacks."""
MOST_RAILS = 256


@dataclass(frozen=True, eq=False)
class ToldRails:
    """Servers and rails that need not be found from names.

    Attributes:
        words: what is told, in a line.
        names: of the servers; "" for one that is called as its hosts' descriptions say.
        adapters: of every server by rail, as they are told; `NONE` where it should have none.
        server: of every host by its place among `names`, shape [hosts]; -1 where nothing is told.
        rail: of every host, from 0, shape [hosts]; -1 likewise.
    """

    words: str
    names: tuple[str, ...]
    adapters: tuple[tuple[str, ...], ...]
    server: NDArray[np.int64]
    rail: NDArray[np.int64]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many rails every server has, shape [servers]."""
        return np.array([len(each) for each in self.adapters], dtype=np.int64)

    def of_hosts(self, hosts: NDArray[Any]) -> ToldRails:
        """What is told of some of the hosts, by their numbers."""
        return replace(self, server=self.server[hosts], rail=self.rail[hosts])


_NOT_TOLD = 0xFFFFFFFF


def columns_of(told: ToldRails | None, hosts: int) -> dict[str, Any]:
    """The columns by name, hosts of which nothing is told marked as such; None tells of none."""
    if told is None:
        nothing = np.full(hosts, _NOT_TOLD)
        columns = {"told_server": nothing, "told_rail": nothing, "told_rails": nothing[:0]}
        return {**columns, "told_words": ("",), "told_name": (), "told_adapter": ()}
    return {
        "told_server": np.where(told.server < 0, _NOT_TOLD, told.server),
        "told_rail": np.where(told.rail < 0, _NOT_TOLD, told.rail),
        "told_rails": told.sizes,
        "told_words": (told.words,),
        "told_name": told.names,
        "told_adapter": tuple(chain.from_iterable(told.adapters)),
    }


def from_columns(values: dict[str, Any], source: str) -> ToldRails | None:
    """Rails that were told when the file was written; takes their columns out of the values.

    None if the file has neither words nor servers.

    Raises:
        InputError: the columns do not fit together.
    """
    server, rail = (values.pop(name).astype(np.int64) for name in ("told_server", "told_rail"))
    sizes = values.pop("told_rails").astype(np.int64)
    (words,), names, adapters = (
        values.pop(name) for name in ("told_words", "told_name", "told_adapter")
    )
    if not words and not names and (server == rail).all() and (server == _NOT_TOLD).all():
        return None
    server[server == _NOT_TOLD] = rail[rail == _NOT_TOLD] = -1
    if int(sizes.sum()) != len(adapters) or int(sizes.max(initial=0)) > MOST_RAILS:
        got = f"{int(sizes.sum())} for {len(adapters)} adapters"
        raise InputError(source, 0, f"at most {MOST_RAILS} rails of a server", got)
    known = server >= 0
    if int(server.max(initial=-1)) >= len(names):
        raise InputError(source, 0, f"told_server below {len(names)}", str(int(server.max())))
    places = np.stack([server[known], rail[known]])
    if ((rail >= 0) != known).any() or (rail[known] >= sizes[server[known]]).any():
        raise InputError(source, 0, "told_rail below the server's rails", "another")
    if np.unique(places, axis=1).shape != places.shape:
        raise InputError(source, 0, "one host on each rail of a server", "several")
    ends = np.cumsum(sizes).tolist()
    each = tuple(adapters[end - size : end] for end, size in zip(ends, sizes.tolist(), strict=True))
    return ToldRails(words, names, each, server, rail)
