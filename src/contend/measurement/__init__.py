"""One measurement: planned, launched within its budget, and kept as a run."""

from contend.measurement.carry_out import measure_workload, resume
from contend.measurement.conditions import DEFAULT_BUDGET, Conditions
from contend.measurement.measure import measure
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
