"""A probe's verb: its own options, then those that all probes share."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from contend.cli.measure.carry_out import measure_and_report
from contend.cli.measure.options import Common
from contend.measurement import OptionValue

Verb = Callable[..., Mapping[str, OptionValue]]
Report = Callable[..., None]


def probe_command(verb: Verb) -> Report:
    """Makes a function a verb of ``contend measure``.

    The function is named after its probe. It takes the options of the probe's own and returns them
    as the probe wants them; what all probes have follows on the command line.
    """

    @functools.wraps(verb)
    def report(common: Common, **own: Any) -> None:
        measure_and_report(verb.__name__, verb(**own), common)

    return _with_common(verb, report)


def measured_command(report: Report) -> Report:
    """Makes a function that measures by itself a verb of ``contend measure``.

    It takes what all probes have as `common`, and options of its own, which come first on the
    command line.
    """
    return _with_common(report, report)


def _with_common(verb: Callable[..., Any], report: Report) -> Report:
    @functools.wraps(verb)
    def command(**given: Any) -> None:
        common = Common(**{name: given.pop(name) for name in shared})
        report(common, **given)

    shared = [field.name for field in dataclasses.fields(Common)]
    hints = {
        **get_type_hints(verb, include_extras=True),
        **get_type_hints(Common, include_extras=True),
    }
    hints["return"] = None
    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
        for function in (verb, Common)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "common"
    ]
    # Typer reads what a command takes from here.
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {name: hints[name] for name in (p.name for p in parameters)}
    return command
