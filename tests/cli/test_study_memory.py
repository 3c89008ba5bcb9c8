"""``contend study mistry2015 --predict`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contend.cli.app import run

PREDICT = ["study", "mistry2015", "--predict"]


def test_tables_2_and_4_are_what_it_prints_when_asked_for_nothing_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(PREDICT) == 0
    output = capsys.readouterr()
    rows = [" ".join(line.split()) for line in output.out.splitlines()]
    assert "Constant global memory for m = 512:" in output.out
    assert "Constant local memory for m = 512N:" in output.out
    assert "Local memory 729 MB 243 MB 81 MB 41 MB 20 MB" in rows
    assert "Global memory 6 GB 17 GB 51 GB 103 GB 205 GB" in rows
    assert output.err == ""


def test_json_has_exact_integers(capsys: pytest.CaptureFixture[str]) -> None:
    """m n 8 = 6,115,295,232 bytes: 5.7 GiB, 729 MiB on each of 8 processes."""
    assert run([*PREDICT, "-m", "512", "--hosts", "1", "--json", "-"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["host_memory_bytes"] == 24 << 30
    (case,) = result["predictions"]
    assert case["global"] == {"length": 1_492_992, "bytes": 6_115_295_232}
    assert case["local"] == {"length": 186_624, "bytes": 729 << 20}
    assert case["block"] == {"length": 23_328, "bytes": 93_312 << 10}
    assert case["host_arrays_bytes"] == 2 * 6_115_295_232
    assert (case["divides"], case["fit"]) == (True, "fits")
    assert case["published"] == [{"source": "paper", "status": "done", "seconds": 1.14}]


def test_json_of_the_largest_and_of_what_does_not_divide(tmp_path: Path) -> None:
    target = tmp_path / "memory.json"
    arguments = [
        "--vectors",
        str(2**59 - 1),
        "-m",
        "1",
        "--hosts",
        "1",
        "--ranks-per-host",
        "1",
        "--memory",
    ]
    assert run([*PREDICT, *arguments, str(2**63 - 1), "--json", str(target)]) == 0
    (case,) = json.loads(target.read_text())["predictions"]
    assert case["host_arrays_bytes"] == 2**63 - 16
    assert (
        run(
            [
                *PREDICT,
                "--vectors",
                "10",
                "-m",
                "3",
                "--hosts",
                "2",
                "--ranks-per-host",
                "1",
                "--json",
                str(target),
            ]
        )
        == 0
    )
    (case,) = json.loads(target.read_text())["predictions"]
    assert case["divides"] is False
    assert case["block"] == {"length": 2.5, "bytes": 60}


def test_an_error_of_the_poster_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*PREDICT, "-m", "810N", "--hosts", "36", "--json", "-"]) == 0
    (case,) = json.loads(capsys.readouterr().out)["predictions"]
    assert case["published"] == [{"source": "poster", "status": "failed", "seconds": None}]
    assert case["fit"] == "near"


def test_lengths_may_be_repeated_and_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*PREDICT, "-m", "800N,810N", "-m", "5", "--hosts", "2", "--json", "-"]) == 0
    cases = json.loads(capsys.readouterr().out)["predictions"]
    assert [(case["length"], case["length_in_doubles"]) for case in cases] == [
        ("800N", 1600),
        ("810N", 1620),
        ("5", 5),
    ]


def test_near_the_memory_is_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*PREDICT, "-m", "512,810N"]) == 0
    assert capsys.readouterr().out.startswith(
        "5 of 10 runs come near a host's 24 GiB: up to 19,349,176,320 bytes of "
        "arrays (18.02 GiB) for m = 810 on 1 host.\n"
    )


def test_more_than_the_memory_is_status_1_after_the_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run([*PREDICT, "-m", "1024", "--hosts", "1,36", "--memory", "16 GB"]) == 1
    output = capsys.readouterr()
    assert output.err == (
        "contend: 1 of 2 runs needs more than a host's 14.9 GiB: up to 24,461,180,928 bytes of "
        "arrays (22.78 GiB) for m = 1,024 on 1 host\n"
    )
    assert ["fits", "no", "yes"] in [line.split() for line in output.out.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--vectors 0", "0 is not in the range x>=1"),
        ("--vectors 1.5", "is not a valid int"),
        ("--vectors 99999999999999999999999999", "8 EiB"),
        ("--ranks-per-host -8", "--ranks-per-host: expected numbers such as 2,4,8 or 1-4"),
        ("--ranks-per-host 9999999999", "at most 2,147,483,647 processes"),
        ("--hosts 0", "--hosts: expected numbers from 1, got 0"),
        ("--hosts 1,,2", "--hosts: expected numbers such as 2,4,8 or 1-4, got ''"),
        ("--hosts 1;2", "--hosts: expected numbers"),
        ("--hosts 3,1,3", "--hosts: expected every number once, got 3 again"),
        ("-m 512x", "--length: expected a vector length m such as 512 or 512N, got '512x'"),
        ("-m 512,", "--length: expected a vector length m such as 512 or 512N, got ''"),
        ("-m 512N -m 0512N", "every length in [[measure]] number 1 once, got 512N 2 times"),
        ("-m 9999999999999999999", "8 EiB"),
        ("--memory lots", "--memory: expected a size such as 512, 64K or 1MiB, got 'lots'"),
        ("--memory 0", "--memory: expected a size above 0 such as 24GiB, got '0'"),
    ],
)
def test_wrong_options_are_one_line(
    arguments: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*PREDICT, *arguments.split()]) == 2
    output = capsys.readouterr()
    assert message in output.err
    assert output.err.count("\n") == 1
    assert output.out == ""


def test_a_plan_that_sorts_nothing_has_nothing_to_predict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["study", "kutzner2005", "--predict"]) == 2
    assert capsys.readouterr().err == "contend: kutzner2005: --predict is for plans that sort\n"


def test_other_plans_predict_what_they_measure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "own.toml"
    plan.write_text(
        'name = "own"\nmemory = "8GiB"\n[[measure]]\nname = "s"\nprobe = "sort"\n'
        'hosts = [2]\nranks_per_host = [1, 4]\nvectors = 64\nlength = ["8", "8N"]\n'
    )
    assert run(["study", str(plan), "--predict", "--json", "-"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["study"], result["host_memory_bytes"]) == ("own", 8 << 30)
    assert [
        (case["ranks_per_host"], case["length_in_doubles"]) for case in result["predictions"]
    ] == [
        (1, 8),
        (1, 16),
        (4, 8),
        (4, 16),
    ]
