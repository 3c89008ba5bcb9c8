from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from contend.base.errors import UsageError
from contend.fabric import Fabric, catalogue, is_generator, make
from contend.fabric.generate.catalogue import Family

small = st.integers(1, 4)


def natural(name: str) -> list[tuple[str, int]]:
    return [(text, int(number or 0)) for text, number in re.findall(r"(\D*)(\d*)", name)]


def pieces(fabric: Fabric) -> int:
    ends = (fabric.cable_from, fabric.cable_to)
    shape = (fabric.switches, fabric.switches)
    return int(connected_components(coo_array((np.ones(fabric.cables), ends), shape=shape))[0])


@st.composite
def specs(draw: st.DrawFn) -> str:
    def numbers(count: int, separator: str = ",", least: int = 1, most: int = 4) -> str:
        return separator.join(str(draw(st.integers(least, most))) for _ in range(count))

    height = draw(st.integers(1, 3))
    radix = 2 * draw(st.integers(1, 4))
    dimensions = numbers(draw(st.integers(1, 3)), "x", 1, 5)
    blocks, rails = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    switches = 2 * draw(st.integers(2, 12))
    degree = draw(st.integers(2, switches - 1))
    return draw(
        st.sampled_from(
            [
                f"xgft:{height};{numbers(height)};" + ",".join(["1", numbers(height - 1)][:height]),
                f"xgft:2;{numbers(2)};1,{numbers(1)};1,{numbers(1)}",
                f"kary:{numbers(2)}",
                f"fattree2:{radix}",
                f"fattree3:{radix}",
                f"clos:{numbers(3)}",
                f"director:{2 ** draw(st.integers(4, 7))};16",
                f"rails:{numbers(4)};{numbers(1)}",
                f"rails:{2 * blocks},2,{rails},{2 * blocks * rails};{numbers(2)};4,2,{blocks}",
                f"benes:{2 ** draw(st.integers(1, 5))}",
                f"torus:{dimensions};{numbers(1)}",
                f"mesh:{dimensions};{numbers(1)}",
                f"ring:{numbers(1, most=9)}",
                f"hypercube:{numbers(1)};{numbers(1)}",
                f"dragonfly:{numbers(3)}",
                f"hyperx:{dimensions};{numbers(1)};{numbers(1)}",
                f"slimfly:{draw(st.sampled_from([3, 4, 5, 7, 8, 9]))};{numbers(1)}",
                f"random:{switches},{degree},{numbers(1)},{draw(st.integers(0, 99))}",
            ]
        )
    )


@given(specs())
@settings(max_examples=200, deadline=None)
def test_any_small_fabric_holds_together(spec: str) -> None:
    fabric = make(spec)
    # The core refuses a port that is used twice or is beyond the switch's number of ports.
    assert fabric.core.channels == 2 * (fabric.hosts + fabric.cables)
    assert pieces(fabric) == 1
    assert fabric.name == spec
    assert np.all(fabric.cable_from != fabric.cable_to)
    assert len(set(fabric.switch_name)) == fabric.switches
    assert list(fabric.host_name) == sorted(set(fabric.host_name), key=natural)


@pytest.mark.parametrize("family", catalogue(), ids=lambda family: family.name)
def test_every_example_works_and_is_of_its_form(family: Family) -> None:
    fabric = make(family.example)
    assert fabric.core.hosts == fabric.hosts > 0
    assert pieces(fabric) == 1
    assert is_generator(family.example)
    assert re.split(r"\[?:", family.form)[0] == family.example.partition(":")[0] == family.name
    assert list(fabric.host_name) == sorted(set(fabric.host_name), key=natural)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("torus:4x4", True),
        ("torus", True),
        ("fig1", True),
        ("fig1.txt", False),
        ("./fig1", False),
        ("", False),
        ("Torus:4", False),
    ],
)
def test_only_names_of_families_are_generators(text: str, answer: bool) -> None:
    assert is_generator(text) is answer


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("toris:4", r'toris:4: expected one of .*, got "toris"; did you mean .torus.\?'),
        ("torus", r"torus: expected torus:AxBx..\[;hosts\], got no parameters"),
        ("torus:", r"torus:: expected torus:.*, got nothing after the colon"),
        ("torus:4xy", r'torus:4xy: expected torus:.*, got "y" for a number'),
        ("torus:4x0", r'torus:4x0: expected torus:.*, got 0 in "4x0"'),
        ("torus:4;1;1", r'torus:4;1;1: expected torus:.*, got "4;1;1"'),
        ("torus:-4", r'got "-4" for a number'),
        ("torus:٤", r'got "٤" for a number'),
        ("ring:9999999999", r'got "9999999999" for a number'),
        ("chic:3", r'chic:3: expected chic, got "3"'),
        ("dragonfly:4,8", r'expected dragonfly:p,a,h\[,g\], got "4,8"'),
        ("dragonfly:1,2,1,4", r"expected at most a h \+ 1 = 3 groups, got 4"),
        ("xgft:2;3;1,2", r'expected xgft:h;.*, got "3"'),
        ("xgft:2;3,4;2,2", r"xgft: expected w1 = 1 .*, got w1 = 2"),
        ("xgft:2;3,4;1,2;2,1", r"xgft: expected p1 = 1 .*, got p1 = 2"),
        ("xgft:30;1;1", r"got 30 levels \(at most 20\)"),
        ("kary:2,21", r"kary: expected at most 20 levels, got 21"),
        ("kary:999999999,20", r"kary: expected at most 1048576 hosts, got more than 10\^15"),
        ("fattree2:9", r"expected fattree2:.*, got an odd radix, 9"),
        ("fattree2:8;6,4", r"fattree2: expected at most 8 ports on a leaf, got 6 down and 4 up"),
        ("fattree2:8;4,4;3", r"fattree2: expected links that divide 8 ports and 4 uplinks, got 3"),
        ("fattree3:12;6,6;4", r"fattree3: expected links that divide"),
        ("fattree3:9;4,3", r"fattree3: expected a radix that is a multiple of twice the links"),
        ("director:100", r"director: expected whole line chips of 12 .*, got 100 ports"),
        ("director:60", r"director: expected whole line chips of 12 .*, got 60 ports"),
        ("benes:6", r"benes: expected a power of two, at least 2, got 6"),
        ("benes:1", r"benes: expected a power of two, at least 2, got 1"),
        ("hypercube:21", r"hypercube: expected at most 20 dimensions, got 21"),
        ("hyperx:4x4;1;1,2,3", r'expected hyperx:.*, got "1,2,3"'),
        ("hyperx:4x4x4;1;1,2", r"expected hyperx:.*, got 2 links for 3 dimensions"),
        ("slimfly:6", r"slimfly: expected q a prime power .*, got 6"),
        ("slimfly:2", r"slimfly: expected q a prime power .*, got 2"),
        ("slimfly:1", r"slimfly: expected q a prime power .*, got 1"),
        ("slimfly:100000007", r"slimfly: expected at most 1048576 hosts"),
        ("random:5,3,1", r"random: expected an even number of cable ends .*, got 15"),
        ("random:4,4,1", r"random: expected a degree below the 4 switches, got 4"),
        ("random:6,1,1", r"random: expected a degree of at least 2 .*, got 1"),
        ("random:6,0,1", r'expected random:.*, got 0 in "6,0,1"'),
        ("crossbar:65535", r"crossbar: expected at most 65534 ports on a switch, got 65535"),
    ],
)
def test_wrong_parameters_tell_what_was_expected(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make(spec)


@given(st.sampled_from([family.name for family in catalogue()]), st.text("0123x,;-. ", max_size=12))
@settings(max_examples=300, deadline=None)
def test_any_parameters_make_a_fabric_or_a_usage_error(name: str, text: str) -> None:
    try:
        hosts = make(f"{name}:{text}").hosts
    except UsageError:
        return
    assert hosts > 0
