"""A file that lacks something is warned about in every verb, and refused with --strict."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import contend
from contend.base.errors import IncompleteInput
from contend.cli.app import run
from sample_fabrics import DATA
from typed_commands import Typed

WARNING = "is incomplete: the records of 4 nodes and the other ends of 5 cables are missing\n"


@pytest.fixture
def cut_short(tmp_path: Path) -> str:
    """An ibnetdiscover file that ends after its switches."""
    whole = (DATA / "tiny.ibnetdiscover").read_text()
    path = tmp_path / "cut.ibnetdiscover"
    path.write_text(whole[: whole.index("vendid=0x0\ndevid=0x0\nsysimgguid=0x100007")])
    return str(path)


VERBS = {
    "simulate": ["simulate", "{}", "--route", "minhop", "--samples", "10"],
    "show": ["fabric", "show", "{}"],
    "hosts": ["fabric", "hosts", "{}"],
    "convert": ["fabric", "convert", "{}", "--to", "graphml", "-o", "-"],
    "route": ["route", "{}", "-o", "-"],
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_every_verb_warns(
    verb: list[str], cut_short: str, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = [word.format(cut_short) for word in verb]
    assert run(arguments) == 0
    assert capfd.readouterr().err == f"contend: warning: {cut_short} {WARNING}"
    assert run([*arguments, "--strict"]) == 2
    assert capfd.readouterr() == ("", f"contend: {cut_short} {WARNING}")


def test_strict_holds_for_one_command_only(cut_short: str, typed: Typed) -> None:
    assert run(["fabric", "hosts", cut_short, "--strict"]) == 2
    assert typed("fabric hosts", cut_short).out == "host\nhostb\nhostc\nhostd\n"


def test_check_warns_and_judges(cut_short: str, typed: Typed) -> None:
    assert typed("fabric check", cut_short, status=1).err.startswith("contend: warning: ")


def test_a_whole_file_is_strict_enough(typed: Typed) -> None:
    assert typed("fabric hosts", DATA / "tiny.ibnetdiscover", "--strict").err == ""


def test_python_warns_too(cut_short: str) -> None:
    with pytest.warns(IncompleteInput, match="the records of 4 nodes"):
        assert contend.load(cut_short).hosts == 5
    with warnings.catch_warnings():
        warnings.simplefilter("error", IncompleteInput)
        with pytest.raises(IncompleteInput):
            contend.load(cut_short)
