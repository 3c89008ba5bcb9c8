"""What the tests of emulated fabrics share: the right to build them, and fabrics."""

from __future__ import annotations

import os

import pytest

from contend.emulate import kernel
from contend.errors import MissingError


@pytest.fixture(scope="session")
def permitted() -> None:
    """Skips where this user may not make network namespaces."""
    try:
        os.close(kernel.in_a_thread(kernel.new_namespace))
    except MissingError as error:
        pytest.skip(f"no network namespaces here: {error}")
