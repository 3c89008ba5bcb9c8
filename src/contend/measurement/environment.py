"""What of the environment changes how MPI programs run."""

from __future__ import annotations

import re
from collections.abc import Mapping

_MATTERS = re.compile(
    r"(?:OMPI|PRTE|PMIX|OPAL|MPICH|MPIR|HYDRA|UCX|FI|I_MPI|MV2|PSM2?|PSM3|OMP|SLURM|IPATH|MLX5)_\w+"
    r"|KMP_AFFINITY|GOMP_CPU_AFFINITY|LD_PRELOAD"
)
# Whatever looks like a secret stays out of files that people pass on.
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|KEY|JWT", re.IGNORECASE)


def variables_that_matter(environment: Mapping[str, str]) -> dict[str, str]:
    """Settings of MPI libraries, their transports and launchers, in order of their names."""
    return {
        name: value
        for name, value in sorted(environment.items())
        if _MATTERS.fullmatch(name) and not _SECRET.search(name)
    }
