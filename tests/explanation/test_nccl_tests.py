"""What nccl-tests print and write is read, whatever stands around it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import contend
from contend.base.errors import InputError
from contend.explanation.nccl_tests import NcclTest, read_nccl_tests
from nccl_outputs import NAMES, RANKS, printed, written


def read(path: Path, text: str) -> list[NcclTest]:
    """The tests of a file with this text."""
    path.write_text(text)
    tests = read_nccl_tests(path)
    assert tests is not None
    return tests


def test_text_and_json_say_the_same(tmp_path: Path) -> None:
    seconds = {1024: 2e-5, 1 << 20: 1e-3}
    text, tagged, document = (tmp_path / name for name in ("a.txt", "tagged.log", "a.json"))
    text.write_text(printed("all_gather_perf", RANKS, seconds))
    tagged.write_text(printed("all_gather_perf", RANKS, seconds, tag="[1,0]<stdout>:"))
    document.write_text(written("all_gather_perf", RANKS, seconds))
    of_text, of_tagged, of_json = map(read_nccl_tests, (text, tagged, document))
    assert of_text == of_tagged == of_json
    assert (of_text[0].collective, of_text[0].hosts) == ("all-gather", tuple(RANKS))
    assert of_text[0].servers == tuple(NAMES)
    assert [(one.bytes, one.seconds) for one in of_text[0].sizes] == [
        (size, pytest.approx(time)) for size, time in seconds.items()
    ]


CLOCK = "12:{0:02}:{0:02}"
PREFIXES = {
    "srun -l": " 0: ",
    "mpirun --tag-output": "[1,0]<stdout>:",
    "prterun": "[prterun-node1-77@1,0]<stdout>: ",
    "indented": "        [1,0]<stdout>: ",
    "mpiexec -l": "[0] ",
    "torchrun": "[default0]:",
    "kubectl": "[pod/nccl-launcher-x8k2p/main] ",
    "compose": "launcher-1  | ",
    "pdsh": "node1: ",
    "kubectl --timestamps": f"2026-05-01T{CLOCK}.{{0:09}}Z ",
    "containers": f"2026-05-01T{CLOCK}.{{0:09}}+02:00 stdout F ",
    "logging": f"2026-05-01 {CLOCK},{{0:03}} INFO ",
    "syslog": f"May  1 {CLOCK} node1 nccl[1234]: ",
    "ts": f"May 01 {CLOCK} ",
    "ts %.s": "17000{0:05}.{0:06} ",
    "mpirun --timestamp-output": f"Fri May  1 {CLOCK} 2026[1,0]<stdout>:",
    "brackets": f"[2026/05/01 {CLOCK}.{{0:03}}] ",
    "dmesg": "[   {0}.{0:06}] ",
    "grep -n": "{0}:",
    "cat -n": "{0:6}\t",
    "colours": "\x1b[32m0:\x1b[0m ",
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\x1b[0m\r\n"])
def test_what_stands_before_every_line_is_passed_over(
    prefix: str, end: str, tmp_path: Path
) -> None:
    path, seconds = tmp_path / "out.txt", {1 << power: 1e-3 for power in range(10, 20)}
    bare = read(path, printed("all_gather_perf", RANKS, seconds))
    text = printed("all_gather_perf", RANKS, seconds, tag=lambda line: prefix.format(line))
    path.write_bytes(text.replace("\n", end).encode())
    assert read_nccl_tests(path) == bare


@pytest.mark.parametrize(
    "key", ["log", "message", "textPayload", "MESSAGE"], ids=["Docker", "logs", "GKE", "journald"]
)
def test_lines_that_a_log_keeps_as_json_are_unwrapped(key: str, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    text = printed("all_gather_perf", RANKS, {1024: 2e-5, 1 << 20: 1e-3})
    bare = read(path, text)
    lines = [
        json.dumps({"stream": "stdout", key: f"{line}\n", "time": f"2026-05-01T00:00:{number:02}Z"})
        for number, line in enumerate(text.splitlines())
    ]
    path.write_text("\n".join([*lines[:9], "{cut", *lines[9:]]))
    assert read_nccl_tests(path) == bare
    deep = [json.dumps({"_index": "a", "_source": {"b": {key: line}}}) for line in text.split("\n")]
    path.write_text("\n".join(deep))
    assert read_nccl_tests(path) == bare
    path.write_text('{"log": 7}\n{"other": "nThread"}')
    assert read_nccl_tests(path) is None


def test_lines_of_several_ranks_are_told_apart(tmp_path: Path) -> None:
    """Each prints its own table where a program was built without MPI, and NCCL tells its own."""
    seconds = {1024: 2e-5, 1 << 20: 1e-3}
    texts = [
        printed("all_gather_perf", [host, host], seconds, tag=f"[1,{rank}]<stdout>: ")
        for rank, host in enumerate(NAMES)
    ]
    info = "[1,3]<stderr>: s4:77:77 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P\n"
    lines = zip(*(text.splitlines(keepends=True) for text in texts), strict=True)
    tests = read(tmp_path / "out.txt", "".join(info + "".join(row) for row in lines))
    assert [test.servers for test in tests] == [(name,) for name in NAMES]
    assert [[timed.bytes for timed in test.sizes] for test in tests] == [list(seconds)] * 4


@pytest.mark.parametrize("glue", ["", " ", "\n0: "])
def test_a_row_that_others_wrote_into_is_whole(glue: str, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    text = printed("all_gather_perf", RANKS, {1024: 2e-5, 1 << 20: 1e-3}, tag="0: ")
    bare = read(path, text)
    info = f"-1{glue}s1:77:77 [0] NCCL INFO Connected all rings\n0: "
    path.write_text(text.replace("-1 ", info))
    assert read_nccl_tests(path) == bare


INFO = "[0] s1:77:77 [0] NCCL INFO 4096 Bytes -> Algo 1 proto 2 time 4.20 1.00 1.00\n"


@pytest.mark.parametrize(
    ("old", "new"), [(r"(?<=-1) |(?<=\d) 0(?= )", rf"\g<0>{INFO * 2}[0] "), ("# ", "")]
)
def test_messages_within_rows_and_missing_hashes_change_nothing(
    old: str, new: str, tmp_path: Path
) -> None:
    path = tmp_path / "out.txt"
    text = printed("all_gather_perf", RANKS, {1024: 2e-5, 1 << 20: 1e-3}, tag="[0] ")
    bare = read(path, text)
    path.write_text(re.sub(old, new, text))
    assert read_nccl_tests(path) == bare


@pytest.mark.parametrize(
    "columns",
    [
        "size count type redop root time algbw busbw",
        "size count type redop time algbw busbw error",
        "size count type redop root cputime algbw busbw #wrong cputime algbw busbw #wrong",
        "count size type root redop time algbw busbw #wrong",
        "size count type stride redop root time algbw busbw #wrong timestamp",
        "time algbw busbw size count type redop root",
    ],
)
def test_columns_are_told_by_the_heading(columns: str, tmp_path: Path) -> None:
    text = printed("all_gather_perf", RANKS, {1 << 20: 1e-3}, columns=columns)
    (timed,) = read(tmp_path / "out.txt", text)[0].sizes
    assert (timed.bytes, timed.seconds) == (1 << 20, pytest.approx(1e-3))


@pytest.mark.parametrize("root", ["root ", ""])
def test_old_versions_leave_the_operation_out_where_nothing_is_reduced(
    root: str, tmp_path: Path
) -> None:
    seconds = {1 << 28: 0.5, 1 << 29: 1.0}
    columns = f"size count type redop {root}time algbw busbw error time algbw busbw error"
    text = printed("alltoall_perf", RANKS, seconds, columns=columns, redop="")
    tests = read(tmp_path / "out.txt", text)
    assert {timed.bytes: timed.seconds for timed in tests[0].sizes} == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("name", "collective"),
    [("All-Reduce.txt", "all-reduce"), ("allgather", "all-gather"), ("x_all2all", "all-to-all")],
)
def test_a_file_is_called_as_people_write_it(name: str, collective: str, tmp_path: Path) -> None:
    (test,) = read(tmp_path / name, printed("", RANKS, {1 << 20: 1e-3}, named=False))
    assert test.collective == collective


def test_a_time_in_place_counts_where_none_is_out_of_place(tmp_path: Path) -> None:
    text = printed("all_gather_perf", RANKS, {1 << 20: 1e-3})
    text = text.replace("1000.00 1.05 1.05 0", "N/A N/A N/A N/A", 1)
    tests = read(tmp_path / "out.txt", text)
    assert tests[0].sizes[0].seconds == pytest.approx(1e-3)


@pytest.mark.parametrize(
    ("each", "factor", "redop", "ranks", "collective"),
    [
        (24, 23 / 24, "none", 24, ""),
        (24, 23 / 24, "sum", 24, "reduce-scatter"),
        (1, 2 * 15 / 16, "sum", 16, "all-reduce"),
        # Two digits behind the point are those of about 2,000 ranks.
        (1, 1.999, "avg", 0, "all-reduce"),
    ],
)
def test_columns_tell_the_ranks_where_no_devices_are_listed(
    each: int, factor: float, redop: str, ranks: int, collective: str, tmp_path: Path
) -> None:
    """The count is a rank's part of the size, or bus bandwidth tells: 2 (n - 1) / n."""
    path = tmp_path / "out.txt"
    seconds = {24 << 26: 0.024, 24 << 27: 0.04}
    words = {"each": each, "factor": factor, "redop": redop, "named": False}
    tests = read(path, printed("", [], seconds, **words))  # type: ignore[arg-type]
    assert (tests[0].ranks, tests[0].hosts, tests[0].collective) == (ranks, (), collective)
    found = contend.explain(path, fabric=contend.load("rails:2,2,2,1", route="minhop"))
    assert f"{ranks or 'unknown'} GPUs" in found.cells[0].evidence.cell
    assert "0 servers" not in found.cells[0].evidence.cell
    assert any("does not say where the devices are" in remark for remark in found.remarks)


@pytest.mark.parametrize(("threads", "each"), [(1, 8), (4, 2), (1, 4)])
def test_all_gpus_of_one_process_are_in_one_server(threads: int, each: int, tmp_path: Path) -> None:
    """Also where lines of devices name no server."""
    path = tmp_path / "out.txt"
    text = printed(
        "all_reduce_perf", RANKS[:8], {1 << 20: 1e-3, 1 << 24: 2e-3}, each=1, factor=1.75
    )
    text = re.sub(r"(Pid +\d+) +on +\S+", r"\1", text)
    text = re.sub(r"nThread \d+ nGpus \d+", f"nThread {threads} nGpus {each}", text)
    (test,) = read(path, text)
    crossed = threads * each < 8
    assert (test.ranks, test.hosts, test.one_process) == (8, (), not crossed)
    found = contend.explain(path)
    (told,) = (remark for remark in found.remarks if "network is not known" not in remark)
    assert ("where the devices are" in told) == crossed
    assert ("in one server, so no message crossed the network" in told) != crossed


@pytest.mark.parametrize("word", ["nan", "-nan", "inf", "9" * 5000, "1e999"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_no_number_is_one_line(word: str, place: int, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    text = printed("all_reduce_perf", RANKS, {1 << 20: 1e-3}, redop="sum")
    figures = ["1000.00", "1.05", "1.05"]
    changed = [word if at == place else figure for at, figure in enumerate(figures)]
    path.write_text(text.replace(" ".join(figures), " ".join(changed), 1))
    with pytest.raises(InputError, match=r"out.txt:\d+: expected a time in micro") as refused:
        contend.explain(path)
    assert len(str(refused.value)) < 300 + len(str(path))
    path.write_text(text.replace(f" {1 << 20} ", f" {'9' * 5000} "))
    with pytest.raises(InputError, match=r"out.txt:\d+: expected a size in bytes, got 999"):
        contend.explain(path)
    path.write_text(written("all_reduce_perf", RANKS, {1 << 20: 1e-3}).replace("1000.0", "1e999"))
    with pytest.raises(InputError, match="expected"):
        contend.explain(path)


@pytest.mark.parametrize(
    ("factor", "redop", "collective"),
    [
        (7 / 4, "sum", "all-reduce"),
        (7 / 8, "sum", "reduce-scatter"),
        # An all-gather and an all-to-all have the same.
        (7 / 8, "none", ""),
    ],
)
def test_bandwidths_tell_what_older_versions_do_not(
    tmp_path: Path, factor: float, redop: str, collective: str
) -> None:
    text = printed("", RANKS, {1 << 30: 0.01}, factor=factor, redop=redop, named=False)
    found = read(tmp_path / "out.txt", text)
    assert found[0].collective == collective


def test_a_job_that_starts_again_lists_its_ranks_anew(tmp_path: Path) -> None:
    texts = [printed("", hosts, {8: 1e-3} if hosts == ["b"] else {}) for hosts in ("aaaa", ["b"])]
    first, test = read(tmp_path / "out.txt", "".join(texts))
    assert test.hosts == ("b",)
    assert first.hosts == tuple("aaaa")
    assert first.next_bytes is None


@pytest.mark.parametrize("headed", [True, False])
def test_what_stopped_a_test_is_kept(headed: bool, tmp_path: Path) -> None:
    died = printed("alltoall_perf", ["a", "b"], {})
    lines = died.splitlines(keepends=True)[: None if headed else 7]
    lines.append("b: Test NCCL failure common.cu:1279 'remote process exited / '\n")
    other = printed("sendrecv_perf", ["a", "b"], {8: 1e-3, 16: 1e-3}).replace(
        "Bytes 8 ", "Bytes 64 "
    )
    whole, other = other, other.partition("# Out of bounds")[0]
    less = other.replace("#  ", "#\n# Reducing maxBytes to 25 due to memory limitation\n#  ")
    ended = [read(tmp_path / "out.txt", text)[0].next_bytes for text in (whole, less)]
    assert ended == [0, 0]
    first, second = read(tmp_path / "out.txt", "".join(lines) + other)
    assert (first.collective, first.sizes, first.next_bytes) == ("all-to-all", (), None)
    assert first.failure == "remote process exited"
    assert (second.next_bytes, second.failure) == (32, "")
    assert read(tmp_path / "out.txt", "".join(lines))[0].failure == "remote process exited"


def test_values_that_arrived_wrong_are_counted(tmp_path: Path) -> None:
    text = printed("alltoall_perf", ["a", "b"], {8: 1e-3, 16: 1e-3})
    rows = [line for line in text.splitlines() if line.startswith("  ")]
    damaged = rows[1].split()
    damaged[8] = "12"
    for row, wrong in ((rows[1], 0), (" ".join(damaged), 12)):
        (test,) = read(tmp_path / "out.txt", text.replace(rows[1], row))
        assert [timed.wrong for timed in test.sizes] == [0, wrong]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (" 10000.00 107", " often 107", r"all_reduce.txt:\d+: expected a time in microseconds"),
        ("Rank  1 ", "Rank  9 ", "expected a line of rank 1, got none"),
        ("Rank  1 ", "Rank  7 ", ":12: expected rank 7 on one server, got it on s1 .*MPI=1"),
        ("#  Rank  7", "...", "expected a line of each of the 8 ranks, got those of 7"),
        ("#  Rank", "#  Rank  8 Pid 1 on s5 device 0\n#  Rank", "9 GPUs .* got tests of 8 each"),
    ],
)
def test_damage_is_one_line(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = tmp_path / "all_reduce.txt"
    text = printed("all_reduce_perf", RANKS, {1 << 30: 1e-2}, redop="sum", factor=7 / 4)
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=complaint):
        read_nccl_tests(path)


def test_a_file_that_ends_before_its_times_says_what_was_expected(tmp_path: Path) -> None:
    """A job that was ended early leaves the heading and the ranks, or half of the JSON."""
    text = printed("alltoall_perf", ["a", "b"], {1 << 20: 1e-3})
    for name, content in (
        ("empty.txt", ""),
        ("osu.txt", "# OSU MPI All-to-All Personalized Exchange Latency Test\n1 18.40\n"),
        ("cut.txt", "".join(text.splitlines(keepends=True)[:4])),
        ("cut.json", written("alltoall_perf", ["a", "b"], {1 << 20: 1e-3})[:60]),
    ):
        (tmp_path / name).write_text(content)
        first = "an empty file" if not content else f"which begins with '{content[:9]}"
        told = f"{name}: expected .* measure .* output of nccl-tests with times, got .*{first}"
        with pytest.raises(InputError, match=told):
            contend.explain(tmp_path / name)


def test_json_without_end_is_refused_and_times_of_nothing_are_none(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    document = written("alltoall_perf", ["a", "b"], {1 << 20: 1e-3, 1 << 10: 5e-324})
    path.write_text(document)
    assert [timed.bytes for test in read_nccl_tests(path) for timed in test.sizes] == [1 << 20]
    path.write_text(document.replace("1.0", "[" * 5000))
    with pytest.raises(InputError, match="expected what nccl-tests write as JSON"):
        contend.explain(path)


@pytest.mark.parametrize("time", ["1" + "0" * 400, "1e999", "1" * 5000])
def test_a_time_in_json_that_is_no_number_of_microseconds_is_told(
    tmp_path: Path, time: str
) -> None:
    output = json.loads(written("all_gather_perf", RANKS, {1024: 2e-5}))
    output["results"][0]["out_of_place"]["time"] = 77770777
    file = tmp_path / "a.json"
    file.write_text(json.dumps(output).replace("77770777", time))
    with pytest.raises(InputError, match=r"a\.json: expected"):
        read_nccl_tests(file)
