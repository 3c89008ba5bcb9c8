"""Counters that change while they are watched: from files, commands, Prometheus and ibsim."""

from __future__ import annotations

import http.server
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contend.base.errors import InputError, UsageError
from contend.congestion import Watched, watch
from contend.fabric import Fabric, counter_source
from contend.report import watched_document
from contend.routes import load
from contend.traffic.placement import ListedJob
from sample_fabrics import DATA
from simulated_network import simulated_network
from typed_commands import Typed

COUNTERS = DATA / "counters"
# 4xSDR, in bytes per second.
RATE = 1e9


@pytest.fixture(scope="module")
def fig1() -> Fabric:
    return load(str(COUNTERS / "fig1.ibnetdiscover"), route="updn")


def _ports(path: Path, up: float, other: float = 0, *, faults: str = "") -> None:
    """Bytes of ports 5 and 6 of S0, as ibqueryerrors prints them in words."""
    path.write_text(
        f"   GUID 0x200000000 port 5: [PortXmitData == {round(up / 4)}] {faults}\n"
        f"   GUID 0x200000000 port 6: [PortXmitData == {round(other / 4)}]\n"
    )


class _Clock:
    """A clock that somebody's sleep moves, and that renews a file meanwhile."""

    def __init__(self, renew: Callable[[int], None]) -> None:
        self.now, self._naps, self._renew = 1000.0, 0, renew

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self._naps += 1
        self._renew(self._naps)


def _watched(
    fabric: Fabric, file: Path, renew: Callable[[int], None], **more: object
) -> list[Watched]:
    clock = _Clock(renew)
    return list(watch(fabric, [file], clock=clock, sleep=clock.sleep, **more))  # type: ignore[arg-type]


def test_a_cable_is_busy_by_what_it_carried_since(fig1: Fabric, tmp_path: Path) -> None:
    """It carries 0.95 of its rate in the first two intervals of 10 s, then 0.1."""
    file, total = tmp_path / "now", [0.0, 9.5, 19.0, 20.0]

    def renew(naps: int) -> None:
        _ports(file, up=total[naps] * RATE, other=naps * RATE)

    renew(0)
    states = _watched(fig1, file, renew, count=3)
    hot = _channel(fig1, "S0", 5)
    other = _channel(fig1, "S0", 6)
    assert [float(seen.busy[hot]) for seen in states] == pytest.approx([0.95, 0.95, 0.1])
    assert [float(seen.busy[other]) for seen in states] == pytest.approx([0.1] * 3)
    # Since the reading before it was seen; it ended with the third.
    assert [float(seen.since[hot]) for seen in states][:2] == [1000.0, 1000.0]
    assert not states[2].since[hot] > 0
    told = [watched_document(seen).verdict for seen in states]
    assert 'switch "S0" port 5 -> switch "S4" port 1 is the busiest' in told[1]
    assert "95.0 % of its rate, for 20 s now" in told[1]


def test_between_two_scrapes_the_last_figure_stands(fig1: Fabric, tmp_path: Path) -> None:
    """A cable carries 0.95 of its rate; its counter is scraped every 60 s, and read every 10 s.

    Another port is scraped 30 s later, with a tenth of that.
    """
    file = tmp_path / "now"

    def renew(naps: int) -> None:
        lines = []
        for port, share, begin in ((5, 0.95, 1000), (6, 0.095, 1030)):
            scraped = begin + (10 * naps - (begin - 1000)) // 60 * 60
            metric = "infiniband_switch_port_transmit_data_bytes_total"
            value = share * RATE * (scraped - 900)
            lines.append(f'{metric}{{guid="0x200000000",port="{port}"}} {value} {scraped}000\n')
        file.write_text("".join(lines))

    renew(0)
    states = _watched(fig1, file, renew, count=20)
    hot, other = _channel(fig1, "S0", 5), _channel(fig1, "S0", 6)
    assert [float(seen.busy[hot]) for seen in states if seen.time >= 1060] == pytest.approx(
        [0.95] * sum(seen.time >= 1060 for seen in states)
    )
    told = [float(seen.busy[other]) for seen in states]
    assert told == pytest.approx([0.095] * 20)
    channels = [watched_document(seen).record.channels for seen in states if seen.time >= 1060]
    ages = [{one.channel: one.age for one in state}[hot] for state in channels]
    assert ages[:7] == [0, 10, 20, 30, 40, 50, 0]
    last = next(seen for seen in states if seen.time == 1110)
    assert (
        "95.0 % of its rate, for 110 s now, as counted 50 s ago" in watched_document(last).verdict
    )


def test_a_file_that_nobody_has_renewed_says_nothing_new(fig1: Fabric, tmp_path: Path) -> None:
    """It is written anew every 60 s, without times in it; nothing is sent in the third minute."""
    file = tmp_path / "now"

    def renew(naps: int) -> None:
        if naps % 6 == 0:
            _ports(file, up=0.95 * 60 * RATE * min(naps // 6, 2))
            os.utime(file, (naps, naps))

    renew(0)
    states = _watched(fig1, file, renew, count=15)
    busy = [float(seen.busy[_channel(fig1, "S0", 5)]) for seen in states]
    assert states[0].time == 1060
    assert busy == pytest.approx([0.95] * 12 + [0] * 3)


def test_a_source_that_disappears_is_told_once_and_so_is_its_return(
    fig1: Fabric, tmp_path: Path
) -> None:
    file = tmp_path / "now"

    def renew(naps: int) -> None:
        if naps == 3:
            file.unlink()
        if naps < 3 or naps > 5:
            _ports(file, up=naps * RATE)

    renew(0)
    states = _watched(fig1, file, renew, count=8)
    assert [len(seen.missed) for seen in states] == [0, 0, 1, 0, 0, 0, 0, 0]
    assert [list(seen.returned) for seen in states] == [[]] * 5 + [[30]] + [[]] * 2
    hot = _channel(fig1, "S0", 5)
    assert [float(seen.busy[hot]) for seen in states] == pytest.approx([0.1] * 8)
    assert "as counted 30 s ago" in watched_document(states[4]).verdict
    assert "30 s" in watched_document(states[5]).remarks[0]


def test_counters_that_nobody_ever_renews_are_told_of(fig1: Fabric, tmp_path: Path) -> None:
    file = tmp_path / "now"
    _ports(file, up=5)
    (seen,) = _watched(fig1, file, lambda _: None, count=1)
    assert seen.time == 1120
    assert "no counter has been renewed" in watched_document(seen).verdict


def _channel(fabric: Fabric, switch: str, port: int) -> int:
    return next(
        channel
        for channel in range(2 * fabric.cables)
        if fabric.channel_ends(channel)[0] == f'switch "{switch}" port {port}'
    )


def test_faults_count_from_the_beginning_and_jobs_are_named(fig1: Fabric, tmp_path: Path) -> None:
    file = tmp_path / "now"

    def renew(naps: int) -> None:
        _ports(
            file,
            up=naps * 9.9 * RATE,
            faults=f"[PortXmitDiscards == {7 + 2 * naps}] [LinkDownedCounter == 1]",
        )

    renew(0)
    jobs = [
        ListedJob("17", "far", ("H0", "H15"), True, 0),
        ListedJob("18", "near", ("H4", "H5"), True, 0),
    ]
    last = _watched(fig1, file, renew, count=2, jobs=jobs)[-1]
    hot = _channel(fig1, "S0", 5)
    assert last.faults["discards"][hot] == 4
    assert last.faults["downs"][hot] == 0
    crossing = {job: _crosses(fig1, hosts, hot) for job, hosts in (("17", (0, 15)), ("18", (4, 5)))}
    assert last.jobs.crossing(hot) == [job for job, does in crossing.items() if does]
    assert "4 packets were discarded, most at" in watched_document(last).verdict


def _crosses(fabric: Fabric, names: tuple[int, int], channel: int) -> bool:
    from contend.routes import find_route

    one, other = (fabric.host_name.index(f"H{number}") for number in names)
    both = (find_route(fabric, one, other), find_route(fabric, other, one))
    return any(channel in route.channels for route in both)


def test_a_reading_that_fails_is_told_with_the_next(fig1: Fabric, tmp_path: Path) -> None:
    file = tmp_path / "now"

    def renew(naps: int) -> None:
        if naps == 1:
            file.write_text("nothing\n")
        else:
            _ports(file, up=naps * RATE)

    renew(0)
    (seen,) = _watched(fig1, file, renew, count=1)
    assert len(seen.missed) == 1
    assert "expected counters" in seen.missed[0]
    # Twice the interval has passed.
    assert seen.carried.seconds == 20
    assert seen.busy[_channel(fig1, "S0", 5)] == pytest.approx(0.1)


def test_a_reading_that_takes_long_is_of_its_middle(fig1: Fabric, tmp_path: Path) -> None:
    """The first lasts from 0 to 2 s, the second from 10 to 16: 12 s lie between them."""
    file = tmp_path / "now"
    _ports(file, up=0)
    times, slept = iter([0.0, 0.0, 2.0, 2.0, 2.0, 10.0, 16.0]), []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        _ports(file, up=6 * RATE)

    seen = next(watch(fig1, [file], clock=lambda: next(times), sleep=sleep))
    assert (slept, seen.time, seen.carried.seconds) == ([8.0], 13.0, 12.0)
    assert seen.busy[_channel(fig1, "S0", 5)] == pytest.approx(0.5)


def test_what_cannot_be_watched_is_refused(fig1: Fabric, tmp_path: Path) -> None:
    file = tmp_path / "now"
    file.write_text("   GUID 0x999 port 5: [PortXmitData == 8]\n")
    with pytest.raises(UsageError, match="no counter is of a cable between switches of fig1"):
        next(watch(fig1, [file]))
    with pytest.raises(UsageError, match="expected a time above 0"):
        next(watch(fig1, [file], interval=0))
    with pytest.raises(UsageError, match="expected a command after command:"):
        counter_source("command: ")
    with pytest.raises(UsageError, match="quotation"):
        counter_source("command:a 'b")
    with pytest.raises(UsageError, match=r"^command:false: exit status 1$"):
        counter_source("command:false")()
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(InputError, match="expected an answer of Prometheus, got"):
        counter_source(address)()


def test_the_command_line_records_every_state(tmp_path: Path, typed: Typed) -> None:
    network = str(COUNTERS / "fig1.ibnetdiscover")
    file, record, page = tmp_path / "now", tmp_path / "states.jsonl", tmp_path / "now.html"
    _ports(file, up=5e6)
    command = ["watch", network, "--route", "updn", "--counters", f"command:cat {file}"]
    options = ["--interval", "10ms", "--count", "2", "--log", str(record), "--plot", str(page)]
    told = typed(*command, *options).out.splitlines()
    assert len(told) == 2
    assert all("no cable between switches carries anything" in line for line in told)
    states = [json.loads(line) for line in record.read_text().splitlines()]
    assert [state["verdict"] for state in states] == told
    assert '<meta http-equiv="refresh"' in page.read_text()


@pytest.fixture
def exported() -> Iterator[tuple[str, Callable[[str], None]]]:
    """The address of an exporter, and what changes its text."""
    text = [b""]

    class Exporter(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text[0])

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Exporter)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}", lambda new: text.__setitem__(0, new.encode())
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    "answer",
    [
        "no JSON",
        "[" * 100_000,
        "[1]",
        '{"data": 1}',
        '{"data": {"result": [1]}}',
        '{"data": {"result": "many"}}',
        '{"data": {"resultType": "vector", "result": [{"metric": {}, "value": [1, "2"]}]}}',
        '{"data": {"result": [{"metric": {"__name__": "a"}, "values": []}]}}',
        '{"data": {"result": [{"metric": {"__name__": "a"}, "values": [[1e999, "2"]]}]}}',
        '{"data": {"result": [{"metric": {"__name__": 7}, "values": [[1, "2"]]}]}}',
        '{"data": {"result": [{"metric": {}, "values": [[1, "2"]]}]}}',
    ],
)
def test_what_prometheus_does_not_answer_is_one_line(
    answer: str, exported: tuple[str, Callable[[str], None]]
) -> None:
    address, tell = exported
    tell(answer)
    with pytest.raises(InputError, match="expected") as refused:
        counter_source(f"http://{address}")()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("address", ["http://a b", "http://a:b", "http://[::1", "http://"])
def test_an_address_that_is_none_is_one_line(address: str) -> None:
    with pytest.raises(InputError, match="expected an answer of Prometheus"):
        counter_source(address)()


def test_what_does_not_speak_http_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with server.accept()[0] as peer:
                peer.recv(4096)
                peer.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(InputError, match="expected an answer of Prometheus, got SSH"):
            counter_source(f"http://127.0.0.1:{server.getsockname()[1]}")()


def test_prometheus_tells_the_hot_cable(
    fig1: Fabric,
    tmp_path: Path,
    exported: tuple[str, Callable[[str], None]],
    require_program: Callable[[str], str],
) -> None:
    program = require_program("prometheus")
    target, tell = exported
    metric = 'infiniband_switch_port_{}{{guid="0x200000000",port="{}"}} {}\n'

    def metrics(hot: float, discards: int) -> str:
        return "".join(
            (
                metric.format("transmit_data_bytes_total", 5, hot),
                metric.format("transmit_data_bytes_total", 6, hot / 10),
                metric.format("transmit_discards_total", 5, discards),
            )
        )

    tell(metrics(1e9, 3))
    settings = tmp_path / "prometheus.yml"
    settings.write_text(
        "global: {scrape_interval: 1s}\n"
        f"scrape_configs: [{{job_name: ib, static_configs: [{{targets: ['{target}']}}]}}]\n"
    )
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    options = [f"--config.file={settings}", f"--storage.tsdb.path={tmp_path / 'data'}"]
    with subprocess.Popen(
        [program, *options, f"--web.listen-address={address}"], stderr=subprocess.DEVNULL
    ) as server:
        try:
            source = counter_source(f"http://{address}")
            _until(lambda: any(count.sent == 1e9 for count in source()))

            def sleep(_: float) -> None:
                tell(metrics(9e9, 5))
                _until(lambda: any(count.sent == 9e9 for count in source()))

            seen = next(watch(fig1, [f"http://{address}"], sleep=sleep))
        finally:
            server.terminate()
    hot = _channel(fig1, "S0", 5)
    assert seen.carried.sent[hot] == 8e9
    assert seen.faults["discards"][hot] == 2
    assert watched_document(seen).verdict.split(": ")[1].startswith('switch "S0" port 5')


def _until(holds: Callable[[], bool]) -> None:
    """Waits until something holds; the test's own time limit ends what never does."""
    for _ in range(600):
        try:
            if holds():
                return
        except InputError:
            pass
        time.sleep(0.1)
    raise AssertionError("it never held")


def test_perfquery_on_a_simulated_network_tells_the_hot_cable(
    tmp_path: Path, require_program: Callable[[str], str]
) -> None:
    """ibsim plays fig1, and its console sets a counter of port 5 of S0 while it is watched."""
    discover, query = require_program("ibnetdiscover"), require_program("perfquery")
    with simulated_network(load("fig1"), tmp_path, require_program) as network:
        found = tmp_path / "it.ibnetdiscover"
        found.write_text(network.tool(discover))
        fabric = load(str(found))
        asking = tmp_path / "ask"
        told = [f'export {name}="{text}"' for name, text in network.environment.items()]
        lids = sorted(int(lid) for lid in fabric.switch_lid)
        lines = [f"{query} -x {lid} {port}" for lid in lids for port in (5, 6)]
        asking.write_text("\n".join([f"cd {tmp_path}", *told, *lines, ""]))

        def sleep(_: float) -> None:
            network.set_counter('"S0"[5]', "PortCountersExtended.PortXmitData=12000000000")

        seen = next(watch(fabric, [f"command:sh {asking}"], sleep=sleep))
    hot = _channel(fabric, "S0", 5)
    # Ports 5 and 6 of four leaves lead to S4, those of S4 and S5 to S2: ten cables, both ways. The
    # rest of what they count are the packets of the tools, a few words each.
    assert (seen.carried.ports, len(seen.carried.known)) == (12, 20)
    assert seen.carried.sent[hot] == pytest.approx(48e9, rel=1e-3)
    verdict = watched_document(seen).verdict
    assert 'switch "S0" port 5 -> switch "S4" port 1 is the busiest' in verdict
