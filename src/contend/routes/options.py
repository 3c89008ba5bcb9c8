"""Options of a routing engine: ``NAME,option=value,...``."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import InputError, UsageError
from contend.base.files import read_bounded
from contend.fabric import Fabric, Names


def split(text: str, known: Collection[str]) -> tuple[str, dict[str, str]]:
    """Name and options of an engine.

    Raises:
        UsageError: when an option is not among the known ones or has no value.
    """
    name, *parts = text.split(",")
    options = {}
    for part in parts:
        key, _, value = part.partition("=")
        if key not in known:
            there = f"it has {', '.join(sorted(known))}" if known else "it has none"
            raise UsageError(f"engine {name} has no option {key!r}; {there}")
        if not value:
            raise UsageError(f"engine {name}: option {key} needs a value: {name},{key}=VALUE")
        options[key] = value
    return name, options


def read_roots(path: Path, fabric: Fabric) -> NDArray[np.uint32]:
    """Root switches that a file names, one on each line: by GUID, as OpenSM's ``-a``, or by name.

    Raises:
        InputError: when a line names no switch of the fabric or there is none at all.
    """
    names = Names(fabric)
    switch_of = {guid: switch for switch, guid in enumerate(fabric.switch_guid.tolist())}
    roots = []
    text = read_bounded(path).decode("utf-8", "replace")
    for number, line in enumerate(text.split("\n"), 1):
        word = line.partition("#")[0].strip()
        if not word:
            continue
        try:
            roots.append(switch_of[int(word[:24], 0)])
        except (ValueError, KeyError):
            roots.append(_switch_named(names, word, str(path), number))
    if not roots:
        raise InputError(str(path), 0, "at least one GUID of a switch", "none")
    return np.array(roots, dtype=np.uint32)


def _switch_named(names: Names, word: str, source: str, line: int) -> int:
    try:
        found = names.find(word)
    except UsageError as error:
        raise InputError(source, line, "the GUID of a switch", str(error)) from None
    if [kind for kind, _ in found] != ["switch"]:
        raise InputError(source, line, "the GUID or the name of a switch", repr(word[:40]))
    return found[0][1]
