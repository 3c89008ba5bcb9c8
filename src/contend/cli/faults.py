"""What contend says of itself: its version, and a fault of its own with what mends it."""

from __future__ import annotations

import sys
import tempfile
import traceback
from importlib.metadata import PackageNotFoundError, version

from contend.errors import printable_line


def version_line() -> str:
    """``contend 0.1.0``."""
    try:
        return f"contend {version('contend')}"
    except PackageNotFoundError:
        return "contend, not installed"


def report_fault(error: Exception, *, show: bool) -> str:
    """Keeps the traceback of a fault in a file, and says so.

    Args:
        error: what no verb expected.
        show: whether the traceback is printed too.

    Returns:
        What to tell the user.
    """
    text = "".join(traceback.format_exception(error))
    if show:
        print(text, end="", file=sys.stderr)
    fault = printable_line(f"this is a fault of contend: {type(error).__name__}: {error}", 300)
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="contend-fault-", suffix=".txt", delete=False, errors="backslashreplace"
        ) as file:
            print(version_line(), *sys.argv[1:], file=file)
            file.write(text)
    except OSError:
        return fault
    return f"{fault}; please report it with {file.name}"
