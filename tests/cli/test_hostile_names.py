"""Names that are anything: what every output makes of them is harmless, and tells them apart."""

from __future__ import annotations

import json
import re
import unicodedata
import xml.etree.ElementTree as Xml
import zlib
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path

import pytest

from contend.cli.app import run
from contend.routes import load

_LEFT = (b"caf\xe9", b"caf\xe8", b"=1+1\x1b[31m", b"<&>'`")
_RIGHT = (b"a\xe2\x80\x8fb", b"a\xe2\x80\x8eb", b"n\x7f\x01", b"\xe2\x80\xae=2")
_SWITCHES = (b"S\xff,1\x1b[31m", b"S\xfe,1\x1b[31m")
# What contend says for them: none shows anything but itself, and no two are alike.
HOSTS = (
    *(r"caf\xe9", r"caf\xe8", r"=1+1\x1b[31m", "<&>'`"),
    *(r"a\u200fb", r"a\u200eb", r"n\x7f\x01", r"\u202e=2"),
)
SWITCHES = (r"S\xff,1\x1b[31m", r"S\xfe,1\x1b[31m")
ALL = (*HOSTS, *SWITCHES)
# Commands of F, the fabric, that write O, and the names that are then to be found.
COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "show": ("fabric show F --json O.json", ()),
    "check": ("fabric check F --route minhop --json O.json --plot O.svg", ()),
    "hosts": ("fabric hosts F", HOSTS),
    "draw": ("fabric draw F --route minhop --plot O.svg", SWITCHES),
    "draw page": ("fabric draw F --route minhop --plot O.html", SWITCHES),
    "diff": ("fabric diff F crossbar:8 --json O.json", ALL),
    "failures": (
        "fabric failures F --route minhop --samples 5 --json O.json --plot O.html",
        SWITCHES,
    ),
    "improve": ("fabric improve F --cables 1 --samples 5 --json O.json --plot O.svg", ()),
    "extend": ("fabric extend F --uplinks 4xXDR --json O.json --plot O.svg", ()),
    "engines": ("fabric engines F --json O.json", ()),
    "simulate": (
        "simulate F --route minhop --samples 5 --channel hottest --json O.json --plot O.svg",
        SWITCHES,
    ),
    "network": (
        "simulate F --route minhop --samples 5 --picture network --plot O.svg",
        SWITCHES,
    ),
    "jobs": ("jobs F JOBS --route minhop --samples 5 --json O.json --plot O.svg", ()),
    "collectives": ("predict collectives F --route minhop --json O.json", ()),
    "route": ("route F -o O.lfts --json O.json", ALL),
    # ibsim's names are its own where these would not do.
    "ibsim": ("fabric convert F --to ibsim -o O.txt", ()),
    "ibnetdiscover": ("fabric convert F --to ibnetdiscover -o O.txt", ALL),
    "orcs": ("fabric convert F --route minhop --to orcs -o O.txt", ALL),
    "graphml": ("fabric convert F --to graphml -o O.txt", ALL),
    "lfts": ("fabric convert F --route minhop --to lfts -o O.txt", ALL),
    "slurm": ("fabric convert F --to slurm -o O.txt", ()),
}
_BREAKS = "\n\t"


def _network() -> bytes:
    out = b""
    for own, hosts, other in zip(_SWITCHES, (_LEFT, _RIGHT), _SWITCHES[::-1], strict=True):
        out += b'Switch 8 "%s"\n' % own
        out += b"".join(
            b'[%d] "%s"[1] w=4 s=50\n' % (port, host) for port, host in enumerate(hosts, 1)
        )
        out += b'[5] "%s"[5] w=4 s=50\n[6] "%s"[6] w=4 s=50\n' % (other, other)
    for own, hosts in zip(_SWITCHES, (_LEFT, _RIGHT), strict=True):
        for port, host in enumerate(hosts, 1):
            out += b'Hca 1 "%s"\n[1] "%s"[%d] w=4 s=50\n' % (host, own, port)
    return out


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    path = tmp_path / "hostile.net"
    path.write_bytes(_network())
    fabric = load(str(path))
    assert set(fabric.host_name) == set(HOSTS)
    assert set(fabric.switch_name) == set(SWITCHES)
    return path


def _texts(path: Path) -> str:
    """All that a file says to whoever reads it as what it is, which it has to be."""
    content = path.read_text("utf-8")
    if path.suffix == ".json":
        return _leaves(json.loads(content))
    if path.suffix == ".html":
        page = _Page()
        page.feed(content)
        page.close()
        packed = re.search(r'id="network">([^<]*)<', content)
        network = json.loads(zlib.decompress(b64decode(packed[1]))) if packed else {}
        return page.text + _leaves(network)
    if path.suffix == ".svg" or content.startswith("<?xml"):
        elements = list(Xml.fromstring(content).iter())
        return "\n".join(
            text for one in elements for text in (one.text or "", *one.attrib.values())
        )
    return content


def _leaves(value: object) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{key}\n{_leaves(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "\n".join(map(_leaves, value))
    return str(value)


class _Page(HTMLParser):
    """The text of a page and of its elements' attributes; no script that it did not bring along."""

    text = ""

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.text += "\n".join(value or "" for _, value in attrs) + "\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_outputs_are_harmless_and_tell_names_apart(
    name: str, hostile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, named = COMMANDS[name]
    jobs = hostile.with_name("jobs.csv")
    jobs.write_text(f'job,hosts\n1,"{HOSTS[0]},{HOSTS[2]}"\n2,"{HOSTS[4]},{HOSTS[5]}"\n')
    output = hostile.with_name("output")
    given = {"F": str(hostile), "JOBS": str(jobs)}
    status = run([given.get(word, word.replace("O.", f"{output}.")) for word in words.split()])
    shown = capsys.readouterr()
    assert status in (0, 1), shown.err
    written = [_texts(path) for path in sorted(hostile.parent.glob("output.*"))]
    assert len(written) == words.count("O.")
    for text in (shown.out, shown.err, *written):
        odd = {c for c in text if c not in _BREAKS and unicodedata.category(c) in ("Cc", "Cf")}
        assert not odd
    everything = "\n".join((shown.out, *written)).replace(r"\\", "\\")
    assert [one for one in named if one not in everything] == []
