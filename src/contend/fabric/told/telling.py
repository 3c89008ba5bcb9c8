"""A fabric's hosts on the rails that a file tells."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from contend.base.errors import InputError
from contend.base.units import counted
from contend.fabric.fabric import Fabric
from contend.fabric.servers import adapter_words, server_names, servers_of
from contend.fabric.streams.source import source_name
from contend.fabric.told.told_rails import EVERY, NONE, RailLine, ToldRails, read_rails

# A server must have so many of a line's adapters for the line to be of its kind.
_MOST = 0.75


def tell_rails(fabric: Fabric, path: str) -> Fabric:
    """The fabric with the servers and rails that a file tells; the rest is found from names.

    A line's adapters are those of its server, by what descriptions call them, by a whole
    description, or by the GUID of a port or an adapter. Adapters that are told but not there are
    missing, which `check_soundness` says. Those that are there but not told are on no rail.

    Args:
        fabric: whole.
        path: a file of lines, of ``nvidia-smi topo -m`` or of NCCL's topology; ``-`` for standard
            input.

    Raises:
        UsageError: the file cannot be read.
        InputError: it is none, it names an adapter or a server twice, a name means several hosts,
            or nothing of it is in the fabric.
    """
    source = source_name(path)
    telling = _Telling(fabric.replace(told=None), source)
    lines = read_rails(path)
    for line in lines:
        if line.server != EVERY:
            telling.take(line)
    every = [line for line in lines if line.server == EVERY]
    telling.take_like(every)
    return fabric.replace(told=telling.told(lines))


class _Telling:
    def __init__(self, fabric: Fabric, source: str) -> None:
        self._fabric = fabric
        self._source = source
        self._server = np.full(fabric.hosts, -1, dtype=np.int64)
        self._rail = np.full(fabric.hosts, -1, dtype=np.int64)
        self._lines: list[RailLine] = []
        self._line_of_name: dict[str, int] = {}
        self._absent = 0
        self._lacking = 0
        self._guessed = servers_of(fabric)
        names = server_names(fabric)
        self._words = adapter_words(fabric, names)
        # Hosts by what names them: on their server by its name, alone, by GUID.
        self._by_word: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._by_text: dict[str, list[int]] = defaultdict(list)
        self._by_guid: dict[int, list[int]] = defaultdict(list)
        for host, (server, text) in enumerate(zip(names, fabric.host_name, strict=True)):
            self._by_word[server][self._words[host]].append(host)
            self._by_text[text.strip()].append(host)
            port, adapter = int(fabric.host_port_guid[host]), int(fabric.host_guid[host])
            for guid in {port, adapter} - {0}:
                self._by_guid[guid].append(host)

    def take(self, line: RailLine) -> None:
        """A line of one server."""
        before = self._line_of_name.setdefault(line.server, line.line)
        if before != line.line:
            got = f'"{line.server}", which line {before} has too'
            raise InputError(self._source, line.line, "a line for each server", got)
        found = [self._find(line, adapter) for adapter in line.adapters]
        if all(host is None for host in found):
            self._absent += 1
            return
        self._add(line, found)

    def _find(self, line: RailLine, adapter: str) -> int | None:
        if adapter == NONE:
            return None
        hosts = self._meant(line.server, adapter)
        if len(hosts) > 1:
            got = f'"{adapter}", which {len(hosts)} have; give GUIDs of ports'
            raise InputError(self._source, line.line, "the name of one host", got)
        return hosts[0] if hosts else None

    def _meant(self, server: str, adapter: str) -> Sequence[int]:
        if adapter.lower().startswith("0x") and len(adapter) < 19:
            try:
                return self._by_guid.get(int(adapter, 16), ())
            except ValueError:
                return ()
        known = self._by_word[server].get(adapter, []) if server in self._by_word else []
        texts = (f"{server}{mark}{adapter}" for mark in (" ", ":", "/"))
        longer = (self._by_text[text] for text in (*texts, adapter) if text in self._by_text)
        return known or next(longer, ())

    def take_like(self, lines: Sequence[RailLine]) -> None:
        """Lines of all servers that are alike, each of which takes the first that fits."""
        own: dict[int, list[int]] = defaultdict(list)
        for host in np.flatnonzero(self._server < 0).tolist():
            own[int(self._guessed[host])].append(host)
        fitted = set()
        for hosts in own.values():
            words: dict[str, int] = {self._words[host]: host for host in hosts}
            alike = Counter(self._words[host] for host in hosts)
            for number, line in enumerate(lines):
                wanted = [word for word in line.adapters if word != NONE]
                having = [word for word in wanted if alike[word] == 1]
                if wanted and len(having) >= _MOST * len(wanted):
                    chosen = [words[word] if word in having else None for word in line.adapters]
                    self._add(RailLine("", line.adapters, line.line), chosen)
                    fitted.add(number)
                    break
        for number, line in enumerate(lines):
            if number not in fitted:
                raise self._unknown(line)

    def _add(self, line: RailLine, hosts: Sequence[int | None]) -> None:
        number = len(self._lines)
        self._lines.append(line)
        for rail, (adapter, host) in enumerate(zip(line.adapters, hosts, strict=True)):
            if host is None:
                self._lacking += adapter != NONE
                continue
            if self._server[host] >= 0:
                before = self._lines[self._server[host]].line
                got = f'"{adapter}" again, after line {before}'
                raise InputError(self._source, line.line, "every adapter once", got)
            self._server[host], self._rail[host] = number, rail

    def _unknown(self, line: RailLine) -> InputError:
        some = ", ".join(line.adapters[:4]) + (", ..." if len(line.adapters) > 4 else "")
        where = f'server "{line.server}"' if line.server != EVERY else "a server"
        expected = f"adapters of {self._fabric.name}"
        return InputError(self._source, line.line, expected, f"{some} of {where}, not there")

    def told(self, lines: Sequence[RailLine]) -> ToldRails:
        if not self._lines:
            raise self._unknown(lines[0])
        sizes = [len(line.adapters) for line in self._lines]
        kinds = [
            f"{counted(n, 'server')} with {counted(size, 'rail')}"
            for size, n in sorted(Counter(sizes).items(), reverse=True)
        ]
        words = f"rails as {self._source} has them: {', '.join(kinds)}"
        if self._lacking:
            are = "is" if self._lacking == 1 else "are"
            words += f"; {counted(self._lacking, 'adapter')} of theirs {are} not in the fabric"
        if self._absent:
            are = "is" if self._absent == 1 else "are"
            words += f"; {counted(self._absent, 'further server')} {are} not in the fabric"
        return ToldRails(
            words,
            tuple(line.server for line in self._lines),
            tuple(line.adapters for line in self._lines),
            self._server,
            self._rail,
        )
