"""One measurement: planned, launched within its budget, and kept as a run."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contend.measurement.carry_out import measure_workload, resume
    from contend.measurement.conditions import DEFAULT_BUDGET, Conditions
    from contend.measurement.notebook import measure
    from contend.measurement.observer import Observer
    from contend.measurement.place import Place, RealHosts
    from contend.measurement.step import Plan, Step
    from contend.measurement.workload import OptionValue, Workload, make_workload

__all__ = [
    "DEFAULT_BUDGET",
    "Conditions",
    "Observer",
    "OptionValue",
    "Place",
    "Plan",
    "RealHosts",
    "Step",
    "Workload",
    "make_workload",
    "measure",
    "measure_workload",
    "resume",
]

# Loaded when they are first used: tables of samples take longer to load than most verbs run.
_MODULES = {
    "carry_out": ("measure_workload", "resume"),
    "conditions": ("DEFAULT_BUDGET", "Conditions"),
    "notebook": ("measure",),
    "observer": ("Observer",),
    "place": ("Place", "RealHosts"),
    "step": ("Plan", "Step"),
    "workload": ("OptionValue", "Workload", "make_workload"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value
