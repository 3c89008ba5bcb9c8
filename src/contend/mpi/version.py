"""Which library it is, by what the library says of itself."""

from __future__ import annotations

import re

# Derived libraries first: they tend to mention what they are made from.
_NAMES = (
    ("Intel MPI", r"Intel\(R\) MPI Library (\d[\w.]*)"),
    ("MVAPICH", r"MVAPICH\w*\s+Version\s*:\s*(\d[\w.]*)"),
    ("Cray MPICH", r"CRAY MPICH version (\d[\w.]*)"),
    ("ParaStation MPI", r"(?:ParaStation MPI|psmpi)\D*(\d[\w.]*)"),
    ("HPE MPT", r"(?:HPE|SGI) (?:HMPT|MPT) (\d[\w.]*)"),
    ("Spectrum MPI", r"Spectrum MPI v(\d[\w.]*)"),
    ("MPICH", r"MPICH\s+Version\s*:\s*(\d[\w.]*)"),
    ("Open MPI", r"Open MPI v(\d[\w.]*)"),
)


def recognise(text: str) -> tuple[str, str]:
    """Name and version of the library whose MPI_Get_library_version is `text`.

    A library that is not known is called by the first words it says, and has no version.
    """
    for name, pattern in _NAMES:
        if match := re.search(pattern, text):
            return name, match[1]
    words = re.split(r"[,\n]", text.strip(), maxsplit=1)[0].strip()
    return words[:60] or "unnamed", ""
