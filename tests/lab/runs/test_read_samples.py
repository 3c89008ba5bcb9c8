"""The file of samples: what is read, what is refused and where."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contend.base.errors import InputError
from contend.lab.runs import SCHEMA, RawSamples, SampleTail, frames, read_samples
from contend.lab.runs.frames import NotBegunError
from contend.lab.runs.launch_file import parse
from sample_files import MAGIC, Launch, clock, frame, placed, probe, sample, words

CELL = words(kind="cell", cell=0, columns=["start", "end"], algorithm="linear", bytes=8)


def read(content: bytes) -> RawSamples:
    return parse(np.frombuffer(content, np.uint8), "it")


def test_every_rank_of_a_sample_is_a_row() -> None:
    body = sample(0, 0, [[1.0, 2.0], [1.5, 2.5]], agreed=0.9, flags=3)
    body += sample(0, 1, [[3.0, 4.0], [3.25, 3.5]], agreed=3.0)
    raw = read(MAGIC + probe(2) + placed(["a", "b"]) + clock(2) + CELL + body)
    assert raw.frame.drop("late").rows() == [
        (0, 0, True, True, 0, 0.9, 1.0, 2.0),
        (0, 0, True, True, 1, 0.9, 1.5, 2.5),
        (0, 1, False, False, 0, 3.0, 3.0, 4.0),
        (0, 1, False, False, 1, 3.0, 3.25, 3.5),
    ]
    assert raw.probe.ranks == 2
    assert raw.ranks.host == ("a", "b")
    assert raw.clocks[0].residual_s == (0.0, 2e-7)
    assert raw.cells[0].labels == {"algorithm": "linear", "bytes": 8}
    assert raw.done is None


def test_the_end_says_how_and_the_last_words_what_it_cost() -> None:
    end = words(kind="end", cell=0, reason="precision", verified=True, said="fine")
    done = words(kind="done", overhead_s=1e-6, overhead_p99_s=2e-6)
    raw = read(MAGIC + probe(1) + CELL + end + done)
    assert raw.ends[0].reason == "precision"
    assert raw.ends[0].verified is True
    assert raw.done.overhead_s == 1e-6


@pytest.mark.parametrize(
    ("start", "result", "late"),
    [
        # Later than 10 µs, and than 5 % of the result: 5 µs of 100 µs, 50 µs of 1 ms.
        (9e-6, 100e-6, False),
        (11e-6, 100e-6, True),
        (49e-6, 1e-3, False),
        (51e-6, 1e-3, True),
    ],
)
def test_a_sample_is_late_when_any_rank_is(start: float, result: float, late: bool) -> None:
    times = [[0.0, 1e-7], [start, result]]
    raw = read(MAGIC + probe(2) + CELL + sample(0, 0, times, agreed=0.0))
    assert raw.frame["late"].to_list() == [late, late]


def test_ranks_that_take_no_part_have_no_row() -> None:
    nan = float("nan")
    times = [[1.0, 2.0], [nan, nan], [1.1, 3.0]]
    raw = read(MAGIC + probe(3) + CELL + sample(0, 0, times, agreed=1.1))
    assert raw.frame["rank"].to_list() == [0, 2]
    assert raw.frame["late"].to_list() == [False, False]


def test_cells_with_other_columns_stay_in_the_order_of_time() -> None:
    other = words(kind="cell", cell=1, columns=["start", "barriers_s", "end"], algorithm="b")
    body = CELL + sample(0, 0, [[1, 2]]) + other + sample(1, 0, [[3, 0.5, 4]])
    body += sample(0, 1, [[5, 6]])
    raw = read(MAGIC + probe(1, 2) + body)
    assert raw.frame["start_s"].to_list() == [1, 3, 5]
    assert raw.frame["barriers_s"].to_list() == [None, 0.5, None]
    assert raw.frame["end_s"].to_list() == [2, 4, 6]


def test_words_of_later_versions_are_passed_over() -> None:
    content = MAGIC + probe(1, novel=[1]) + words(kind="weather", sun=True) + CELL
    assert read(content + sample(0, 0, [[1, 2]])).frame.height == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"gzip", "expected contend-samples 1, got 'gzip'"),
        (MAGIC + b"X" + bytes(9), "a frame of kind J or S at byte 18 (frame 1), got 'X'"),
        (MAGIC + frame(b"J", b"[1]"), "at byte 18 (frame 1), got Expected `object`"),
        (MAGIC + CELL, "no probe before it"),
        (MAGIC + probe(1) + probe(1), "a second probe"),
        (MAGIC + probe(0), "ranks"),
        (MAGIC + probe(3) + placed(["a"]), "values of 1 ranks instead of 3"),
        (MAGIC + probe(1) + sample(0, 0, [[1, 2]]), "cell 0 before its samples"),
        (MAGIC + probe(2) + CELL + sample(0, 0, [[1, 2]]), "a sample of cell 0 with 56 bytes"),
        (MAGIC + probe(1) + CELL + sample(0, 0, [[1, np.inf]]), "times such as a clock shows"),
        (MAGIC + probe(1) + CELL + frame(b"S", b"short"), "a sample of at least 24 bytes"),
        (MAGIC + probe(1) + CELL + 2 * sample(0, 4, [[1, 2]]), "repetitions that count up"),
        (MAGIC + probe(1) + CELL + words(kind="end", cell=7, reason="x"), "the end of cell 7"),
        (
            MAGIC + probe(1) + words(kind="cell", cell=0, columns=["end", "start"]),
            "the first column must be start",
        ),
        (
            MAGIC + probe(1) + words(kind="cell", cell=0, columns=["start", "end"], bytes=-1),
            "bytes must be a whole number",
        ),
        (
            MAGIC + probe(1) + words(kind="cell", cell=0, columns=["start", "rank", "end"]),
            "'rank' is not a valid name of a column",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(content: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(content)
    assert str(caught.value).startswith("it")
    assert message in str(caught.value)


def test_the_place_is_that_of_the_first_wrong_frame() -> None:
    good = b"".join(sample(0, i, [[i, i + 1]]) for i in range(50))
    start = MAGIC + probe(1) + CELL
    wrong = sample(0, 50, [[1, 2], [1, 2]])
    with pytest.raises(InputError, match=rf"at byte {len(start + good)} \(frame 53\), got 56"):
        read(start + good + wrong + good)


@pytest.mark.parametrize("content", [b"", MAGIC[:5], MAGIC, MAGIC + probe(1)[:-1]])
def test_a_file_without_a_probe_has_not_begun(content: bytes) -> None:
    with pytest.raises(NotBegunError):
        read(content)


@settings(deadline=None)
@given(cut=st.integers(0, 400))
def test_however_a_file_is_cut_its_whole_samples_are_there(cut: int) -> None:
    head = MAGIC + probe(2) + CELL
    frames = [sample(0, i, [[i, i + 1], [i, i + 2]]) for i in range(6)]
    content = head + b"".join(frames)
    kept = content[: max(len(head), len(content) - cut)]
    raw = read(kept)
    whole = (len(kept) - len(head)) // len(frames[0])
    assert raw.frame["repetition"].n_unique() == whole
    assert raw.torn == (len(kept) - len(head)) % len(frames[0])


def test_a_torn_frame_whose_length_is_wrong_is_no_torn_frame() -> None:
    torn = b"S" + (1 << 30).to_bytes(4, "little") + bytes(40)
    with pytest.raises(InputError, match="a sample of cell 0 with 40 bytes"):
        read(MAGIC + probe(1) + CELL + torn)


def test_many_columns_do_not_fill_the_memory() -> None:
    # 4,000 columns once and 50,000 rows without them would be 1.6 GB of nothing.
    names = [f"a{number}" for number in range(4000)]
    wide = words(kind="cell", cell=1, columns=["start", *names, "end"])
    rows = b"".join(sample(0, i, [[1, 2]]) for i in range(50_000))
    with pytest.raises(InputError, match="cells with much the same columns, got 4,002"):
        read(MAGIC + probe(1, 2) + CELL + wide + rows)


@settings(deadline=None, max_examples=50)
@given(
    results=st.lists(
        st.lists(st.floats(1e-6, 10), min_size=0, max_size=20), min_size=1, max_size=6
    ),
    ranks=st.integers(1, 5),
)
def test_what_is_written_is_read(results: list[list[float]], ranks: int) -> None:
    launch = Launch(ranks)
    for number, values in enumerate(results):
        launch.cell(values, algorithm=f"a{number % 2}", bytes=number)
    raw = read(launch.content())
    assert raw.torn == 0
    assert raw.done is not None
    timed = raw.frame.filter(~pl.col("warmup")).group_by("cell", maintain_order=True)
    spans = timed.agg(n=pl.len()).sort("cell")
    expected = [(i, ranks * len(values)) for i, values in enumerate(results) if values]
    assert spans.rows() == expected


def test_a_tail_follows_a_file_as_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "launch-000.samples"
    tail = SampleTail(path)
    assert tail.poll().probe is None
    launch = Launch(3).cell([1e-3] * 4, algorithm="linear", bytes=8)
    launch.cell([1e-3] * 4, algorithm="bruck", bytes=16)
    content = launch.content()
    seen = []
    for end in range(0, len(content) + 1, 7):
        path.write_bytes(content[:end])
        seen.append(tail.poll().samples)
    path.write_bytes(content)
    last = tail.poll()
    # One warm-up each.
    assert (last.cells, last.ended, last.samples) == (2, 2, 10)
    assert last.labels == {"algorithm": "bruck", "bytes": 16}
    assert seen == sorted(seen)
    assert read_samples(path).frame["agreed_s"].max() == last.seconds


def documented(heading: str) -> dict[str, set[str]]:
    """Names in the first and in the last column of a table in the page on samples."""
    page = (Path(__file__).parents[3] / "docs" / "reference" / "samples.md").read_text(
        encoding="utf-8"
    )
    rows = page.split(heading, 1)[1].split("\n\n", 1)[0].strip().splitlines()[1:]
    columns = [row.strip("|").split("|") for row in rows]
    name = re.compile(r"`(\w+)`")
    return {first: set(name.findall(row[-1])) for row in columns for first in name.findall(row[0])}


def test_the_page_on_samples_describes_what_is_read() -> None:
    kinds = documented("| `kind` | describes | members |")
    assert kinds.keys() == {*frames._KINDS, "cell"}
    for kind, frame_type in frames._KINDS.items():
        assert set(frame_type.__struct_fields__) <= kinds[kind], kind
    assert {"cell", "columns"} <= kinds["cell"]
    columns = documented("| column | meaning |")
    assert list(columns) == list(SCHEMA)


def test_a_tail_of_a_damaged_file_stands_still(tmp_path: Path) -> None:
    path = tmp_path / "it"
    path.write_bytes(Launch(1).cell([1.0]).content()[:-1] + b"garbage, garbage")
    tail = SampleTail(path)
    assert tail.poll() == tail.poll()
