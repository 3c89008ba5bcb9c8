"""Prints what building the package needs, one requirement a line.

pip installs the build requirements only into environments that it throws away afterwards; the
Makefile keeps them, so it asks here. CMake and Ninja are left to the package's build backend by
`pip install`, so they are added.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
PROGRAMS = ["cmake>=3.20", "ninja>=1.11"]

requirements = tomllib.loads(PYPROJECT.read_text())["build-system"]["requires"]
print("\n".join([*requirements, *PROGRAMS]))
