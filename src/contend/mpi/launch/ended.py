"""How a launch ended, and what its launcher told about a rank that died."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from contend.mpi.process import Finished

# What ends a rank whose program has a reason: one line of the program's own.
_OWN_WORDS = re.compile(r"(?:^|[\]>] ?)contend-[a-z]+: (.+)$", re.MULTILINE)
_TAIL = 40


@dataclass(frozen=True)
class Death:
    """A rank that a signal ended, as far as the launcher tells.

    Attributes:
        signal: number of the signal.
        rank: its number; None when the launcher does not tell.
        pid: its process; 0 when the launcher does not tell.
        host: where it ran; "" when the launcher does not tell.
        first: whether it surely died of itself, and was not ended because another had died.
    """

    signal: int
    rank: int | None = None
    pid: int = 0
    host: str = ""
    first: bool = True

    def __str__(self) -> str:
        who = "a rank" if self.rank is None else f"rank {self.rank}"
        told = [f"process {self.pid}"] if self.pid else []
        told += [f"on {self.host}"] if self.host else []
        where = f" ({' '.join(told)})" if told else ""
        said = f"{who}{where} was ended by {signal_name(self.signal)}"
        if self.signal == signal.SIGKILL:
            said += ", as the system does when memory runs out"
        return said


@dataclass(frozen=True)
class Ended:
    """How a launch ended.

    Attributes:
        status: exit status of the launcher; None when it ran out of time and was ended.
        why: in one line why it is no success; "" when it is.
        output: the last lines that launcher and ranks wrote.
        death: the rank that a signal ended; None when none did or the launcher does not tell.
        waited: seconds that a batch system kept it waiting.
        said: the program's own line about why, without its name; "" when it said none.
        command: what was run to start the ranks, with the program and its arguments.
    """

    status: int | None
    why: str = ""
    output: str = ""
    death: Death | None = None
    waited: float = 0.0
    said: str = ""
    command: tuple[str, ...] = ()


def judge(
    finished: Finished, death: Death | None, command: Sequence[str], waited: float = 0.0
) -> Ended:
    """How a launch ended, by what launcher and ranks said."""
    everything = finished.errors.decode(errors="replace") + finished.text
    own = _OWN_WORDS.search(everything)
    said = own[1].strip() if own else ""
    if death is None and not said:
        # Launchers do not always say what their status does, in the way of shells.
        death = _by_status(finished.status)
    if finished.status == 0:
        why = ""
    elif finished.status is None:
        why = finished.why()
    elif said or death is None:
        why = said or finished.why()
    else:
        why = str(death)
    return Ended(
        status=finished.status,
        why=why,
        output="\n".join(everything.splitlines()[-_TAIL:]),
        death=None if finished.status == 0 else death,
        waited=waited,
        said=said,
        command=tuple(command),
    )


def _by_status(status: int | None) -> Death | None:
    number = (status or 0) - 128
    return Death(number) if number in signal.valid_signals() else None


def signal_name(number: int) -> str:
    """The name of a signal, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def signal_number(words: str) -> int:
    """The number of a signal that is told in words, such as ``Segmentation fault``; 0 for none."""
    for number in signal.valid_signals():
        if (signal.strsignal(number) or "").casefold() == words.strip().casefold():
            return int(number)
    return 0
