"""Figures for Prometheus, held to its own tool."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from contend.cli.app import run
from contend.report import Metric, metrics_text
from processes import finished

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/watch.md"


def test_figures_of_one_name_stand_together() -> None:
    metrics = [
        Metric("one_ratio", "First.", 0.5, {"fabric": 'a"b\\c\n'}),
        Metric("two", "Second.", 3),
        Metric("one_ratio", "First.", 1.0),
        Metric("none", "Third.", float("nan")),
    ]
    assert metrics_text(metrics) == (
        "# HELP one_ratio First.\n# TYPE one_ratio gauge\n"
        'one_ratio{fabric="a\\"b\\\\c\\n"} 0.5\none_ratio{} 1.0\n'
        "# HELP two Second.\n# TYPE two gauge\ntwo{} 3\n"
    )


def test_what_verbs_write_is_what_prometheus_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], require_program: Callable[[str], str]
) -> None:
    tool = require_program("promtool")
    jobs = tmp_path / "jobs"
    jobs.write_text("1,1\n1,9\n2,2\n2,10\n")
    commands = {
        "contend_effective_bandwidth_ratio": ["simulate", "fig1", "--route", "minhop"],
        "contend_checks": ["fabric", "check", "fig1", "--route", "minhop"],
        "contend_job_bandwidth_ratio": ["jobs", "fig1", str(jobs), "--route", "minhop"],
    }
    for name, command in commands.items():
        file = tmp_path / name
        assert run([*command, "--prometheus", str(file)]) == 0
        text = file.read_text()
        assert re.search(rf"^{name}\{{.*\}} [0-9.]+$", text, re.M)
        done = subprocess.run(
            [tool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stderr) == (0, "")
    capsys.readouterr()


def test_the_page_has_every_name_and_label(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A channel has the labels by which exporters name the port that sends over it."""
    jobs, now = tmp_path / "jobs", tmp_path / "now"
    jobs.write_text("1,1\n1,9\n2,2\n2,10\n")
    now.write_text(
        "   GUID 0x200000000 port 5: [PortXmitData == 5] [PortRcvData == 5] "
        "[PortXmitDiscards == 1] [SymbolErrorCounter == 1] [LinkDownedCounter == 1]\n"
    )
    text = ""
    for command in (
        ["simulate", "fig1", "--route", "minhop"],
        ["fabric", "check", "fig1", "--route", "minhop"],
        ["jobs", "fig1", str(jobs), "--route", "minhop"],
        ["watch", "fig1", "--counters", f"command:cat {now}", "--count", "1", "--interval", "1ms"],
    ):
        assert run([*command, "--prometheus", str(tmp_path / "it")]) in (0, 1)
        text += (tmp_path / "it").read_text()
    capsys.readouterr()
    written: dict[str, set[str]] = {}
    for name, labels in re.findall(r"^(contend_\w+){(.*)} ", text, re.M):
        written[name] = set(re.findall(r'(\w+)="', labels))
    page = re.findall(r"^(contend_\w+){(.*)}$", PAGE.read_text(), re.M)
    told = {name: set(labels.split(",")) for name, labels in page}
    assert told | {"contend_check_failed": {"fabric", "check"}} == told
    assert written == {name: labels for name, labels in told.items() if name in written}
    assert told.keys() - written.keys() <= {"contend_check_failed", "contend_rated_bisection_ratio"}
    assert 'guid="0x0000000200000000",port="5",switch="leaf 1"' in text


def test_the_rules_of_the_page_are_rules(
    tmp_path: Path, require_program: Callable[[str], str]
) -> None:
    (rules,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.S)
    file = tmp_path / "contend.rules.yml"
    file.write_text(rules)
    done = finished([require_program("promtool"), "check", "rules", str(file)])
    assert done.returncode == 0, done.stderr
    assert "2 rules found" in done.stdout
