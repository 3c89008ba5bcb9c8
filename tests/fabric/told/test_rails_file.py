"""Which adapter is nearest to which GPU, by nvidia-smi's matrix and by NCCL's topology."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from contend.base.errors import InputError
from contend.fabric.told.told_rails import RailLine, nearest_adapters, read_rails
from sample_fabrics import DATA

FILES = DATA / "rails"
MATRIX = (FILES / "server.topo").read_text()
TOPOLOGY = (FILES / "server.nccl.xml").read_text()
FOUND = [RailLine("*", ("mlx5_0", "mlx5_1", "mlx5_3", "mlx5_4"), 0)]


def read(text: str, folder: Path) -> list[RailLine]:
    file = folder / "rails"
    file.write_text(text)
    return read_rails(str(file))


@pytest.mark.parametrize(
    ("distances", "rails"),
    [
        ([[0, 1], [1, 0]], [0, 1]),
        ([[1, 0], [0, 1]], [1, 0]),
        ([[0, 0, 3], [0, 0, 3], [3, 3, 1]], [0, 1, 2]),  # Two pairs below a switch.
        ([[0, 1], [0, 1], [1, 0], [1, 0]], [0, 1]),  # Two GPUs share an adapter.
        ([[3, 3]], [0]),
        ([[0, 4, 4], [4, 4, 4], [4, 0, 4]], [0, 1]),  # Far from all; storage is near nobody.
    ],
)
def test_each_gpu_takes_the_nearest_that_is_free(
    distances: list[list[int]], rails: list[int]
) -> None:
    assert nearest_adapters(distances, far=4) == rails


@pytest.mark.parametrize(
    "text",
    [
        MATRIX,
        MATRIX.replace("\t", "    ").replace("\x1b[4m", "").replace("\x1b[0m", ""),
        f"$ nvidia-smi topo -m\n{MATRIX}",
        TOPOLOGY,
        f'\ufeff<?xml version="1.0"?>\n{TOPOLOGY}',
        TOPOLOGY.replace('dev="1" sm', 'dev="0" sm').replace('dev="0" sm', "sm"),
        TOPOLOGY.replace(
            "</system>", '<cpu host_hash="2"><pci><gpu dev="0"/></pci></cpu></system>'
        ),
    ],
)
def test_the_same_server_in_all_its_forms(text: str, tmp_path: Path) -> None:
    assert read(text, tmp_path) == FOUND


@pytest.mark.parametrize(
    "text",
    [
        "GPU0GPU1 NIC0 NIC1NIC2CPU Affinity\nGPU0 XNV18 SYSSYSPIX 0-15\nGPU1 NV18X PIXSYS SYS 0-15",
        "GPU0 GPU1 NIC0NIC1NIC2\n0-15\nGPU0X NV18SYSSYSPIX\nGPU1NV18X PIX SYS SYS",
    ],
)
def test_a_terminal_may_have_eaten_blanks(text: str, tmp_path: Path) -> None:
    text = f"{text}\nNIC Legend:\nNIC0: mlx5_0\n  NIC1: mlx5_1\n  NIC2: mlx5_bond_2\n"
    assert read(text, tmp_path) == [RailLine("*", ("mlx5_bond_2", "mlx5_0"), 0)]


def test_older_drivers_name_adapters_in_the_heading(tmp_path: Path) -> None:
    heading = "\tGPU0\tGPU1\tmlx5_1\tmlx5_0\tCPU Affinity\n"
    text = f"{heading}GPU0\t X \tSOC\tPIX\tSOC\t0\nGPU1 SOC X SOC PIX"
    assert read(text, tmp_path) == [RailLine("*", ("mlx5_1", "mlx5_0"), 0)]


def test_a_compressed_file(tmp_path: Path) -> None:
    (tmp_path / "rails").write_bytes(gzip.compress(MATRIX.encode()))
    assert read_rails(str(tmp_path / "rails")) == FOUND


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("\tGPU0\tmlx5_0\nGPU0\tX\tSYS\n", ":1: expected an adapter nearer than SYS .* got none"),
        ("\tGPU0\tGPU1\nGPU0\tX\tNV4\n", ":1: expected columns of adapters .* got none"),
        ("\tGPU0\tNIC0\n\nNIC0: mlx5_0", ":1: expected a row for every GPU, got none"),
        ("\tGPU0\tNIC0\nGPU0\tX\n", ":2: expected 2 links of GPU0, got 1"),
        ("\tGPU0\tNIC0\nGPU0\tX\tNV2\n", ':2: expected PIX, PXB.* GPU0 and NIC0, got "NV2"'),
        ("\tGPU0\tNIC0\nGPU0\tX\tPIX\n", ": expected the name of NIC0 in the NIC legend, got none"),
        ("GPU0 " * 300 + "NIC0", ":1: expected at most 256 columns, got 301"),
        ("<system><cpu></system>", ":1: expected well-formed XML, got mismatched tag"),
        ("<graphml/>", ":1: expected a <system>, as NCCL_TOPO_DUMP_FILE has it, got <graphml>"),
        ("<!DOCTYPE a []><system/>", ":1: expected a topology without a document type, got <!DOC"),
        ("<system/>", "expected a GPU .<gpu dev=...>., as NCCL_TOPO_DUMP_FILE has it, got none"),
        ('<system><gpu dev="0"/></system>', "expected an adapter .<net name=...>., as NCCL"),
        ('<system><pci class="0x030200"/></system>', "got classes of devices alone, as vendors"),
        ('<system>\n<gpu dev="x"/></system>', ":2: expected a number as dev, got 'x'"),
        ("<system><net/></system>", ":1: expected the name of every <net>, got none"),
        ("<system>" + "<a>" * 70, ":1: expected at most 64 elements in each other, got more"),
        ("<system>" + "<gpu/>" * 257, ":1: expected at most 256 GPUs and as many adapters"),
    ],
)
def test_servers_that_are_none(text: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=complaint):
        read(text, tmp_path)
