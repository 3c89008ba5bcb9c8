"""``contend study mistry2015 --predict`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

from typed_commands import Typed

PREDICT = ["study", "mistry2015", "--predict"]


def test_lengths_may_be_repeated_and_listed(typed: Typed) -> None:
    cases = json.loads(
        typed(*PREDICT, "-m", "800N,810N", "-m", "5", "--hosts", "2", "--json", "-").out
    )["predictions"]
    assert [(case["length"], case["length_in_doubles"]) for case in cases] == [
        ("800N", 1600),
        ("810N", 1620),
        ("5", 5),
    ]


def test_near_the_memory_is_the_verdict(typed: Typed) -> None:
    printed = typed(*PREDICT, "-m", "512,810N")
    assert printed.out.startswith(
        "5 of 10 runs come near a host's 24 GiB: up to 19,349,176,320 bytes of "
        "arrays (18.02 GiB) for m = 810 on 1 host.\n"
    )


def test_more_than_the_memory_is_status_1_after_the_table(
    typed: Typed,
) -> None:
    output = typed(*PREDICT, "-m", "1024", "--hosts", "1,36", "--memory", "16 GB", status=1)
    assert output.err == (
        "contend: 1 of 2 runs needs more than a host's 14.9 GiB: up to 24,461,180,928 bytes of "
        "arrays (22.78 GiB) for m = 1,024 on 1 host\n"
    )
    assert ["fits", "no", "yes"] in [line.split() for line in output.out.splitlines()]


def test_other_plans_predict_what_they_measure(tmp_path: Path, typed: Typed) -> None:
    plan = tmp_path / "own.toml"
    plan.write_text(
        'name = "own"\nmemory = "8GiB"\n[[measure]]\nname = "s"\nprobe = "sort"\n'
        'hosts = [2]\nranks_per_host = [1, 4]\nvectors = 64\nlength = ["8", "8N"]\n'
    )
    result = json.loads(typed("study", plan, "--predict", "--json", "-").out)
    assert (result["study"], result["host_memory_bytes"]) == ("own", 8 << 30)
    assert [
        (case["ranks_per_host"], case["length_in_doubles"]) for case in result["predictions"]
    ] == [
        (1, 8),
        (1, 16),
        (4, 8),
        (4, 16),
    ]
