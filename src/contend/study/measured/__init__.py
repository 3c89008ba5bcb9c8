"""Measured studies: plans of many launches, run cell by cell into a folder."""

from contend.study.measured.cell import Cell
from contend.study.measured.folder import StudyFolder
from contend.study.measured.plan import MeasuredPlan
from contend.study.measured.read import check_plan, is_measured, read_measured
from contend.study.measured.record import Failure, Point, Record
from contend.study.measured.reference import Coordinates, Known
from contend.study.measured.runner import Ended, Step, in_order, run
from contend.study.measured.site import Site

__all__ = [
    "Cell",
    "Coordinates",
    "Ended",
    "Failure",
    "Known",
    "MeasuredPlan",
    "Point",
    "Record",
    "Site",
    "Step",
    "StudyFolder",
    "check_plan",
    "in_order",
    "is_measured",
    "read_measured",
    "run",
]
