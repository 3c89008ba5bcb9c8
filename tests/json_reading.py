"""What a script reads of a result's JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from contend.base.schema import plain


def as_read(result: Any) -> Any:
    """A result as it comes back from its JSON."""
    return msgspec.json.decode(msgspec.json.encode(plain(result)))
