"""The plans that come with contend: named, found, and copied for users to change."""

from __future__ import annotations

from pathlib import Path

from contend.errors import UsageError
from contend.files import write_whole

_SHIPPED = Path(__file__).parent / "plans"


def shipped_plans() -> tuple[str, ...]:
    """Names of the plans that come with contend."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob("*.toml")))


def find_plan(name: str) -> Path:
    """The file of a plan: one that comes with contend, or a TOML file.

    Raises:
        UsageError: when it is neither.
    """
    if name in shipped_plans():
        return _SHIPPED / f"{name}.toml"
    path = Path(name)
    if not path.is_file():
        known = ", ".join(shipped_plans())
        raise UsageError(f"{name}: no such file, nor one of contend's own studies ({known})")
    return path


def copy_plan(name: str, folder: Path) -> list[Path]:
    """Copies a plan that comes with contend, and the files it names, for its user to change.

    Returns:
        The files that were written, the plan first.

    Raises:
        UsageError: there is no such plan, or a file of that name is there already.
    """
    if name not in shipped_plans():
        known = ", ".join(shipped_plans())
        raise UsageError(f"--copy: expected one of {known}, got {name}")
    # Files beside a plan begin with its name.
    sources = [_SHIPPED / f"{name}.toml", *sorted(_SHIPPED.glob(f"{name}-*"))]
    targets = [folder / source.name for source in sources]
    for target in targets:
        if target.exists():
            raise UsageError(f"{target}: is there already")
    for source, target in zip(sources, targets, strict=True):
        write_whole(target, source.read_bytes())
    return targets
