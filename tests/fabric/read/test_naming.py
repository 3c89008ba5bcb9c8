from __future__ import annotations

import pytest

from contend.errors import InputError
from contend.fabric import naming


def test_an_error_without_a_source_gets_it() -> None:
    with pytest.raises(InputError, match=r"^net\.txt:3: expected a, got b$"), naming("net.txt"):
        raise InputError("", 3, "a", "b")


def test_an_error_with_a_source_keeps_it() -> None:
    with pytest.raises(InputError, match=r"^inner: expected a, got b$"), naming("net.txt"):
        raise InputError("inner", 0, "a", "b")
