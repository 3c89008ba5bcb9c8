"""How a launch ended, and what its launcher told about a rank that died."""

from __future__ import annotations

import re
import signal
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
    """

    signal: int
    rank: int | None = None
    pid: int = 0
    host: str = ""

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
    """

    status: int | None
    why: str = ""
    output: str = ""
    death: Death | None = None
    waited: float = 0.0


def judge(finished: Finished, death: Death | None, waited: float = 0.0) -> Ended:
    """How a launch ended, by what launcher and ranks said."""
    said = finished.errors.decode(errors="replace") + finished.text
    output = "\n".join(said.splitlines()[-_TAIL:])
    if finished.status == 0:
        return Ended(0, "", output, None, waited)
    if finished.status is None:
        return Ended(None, "did not end in time", output, None, waited)
    if own := _OWN_WORDS.search(said):
        why = own[1].strip()
    elif death is not None:
        why = str(death)
    else:
        why = finished.why()
    return Ended(finished.status, why, output, death, waited)


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
