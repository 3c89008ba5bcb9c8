"""Where a result goes: the options of every verb that returns a document, and what they do."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TextIO

from rich.console import Console

from contend import report
from contend.base.errors import ShortfallError, UsageError
from contend.cli.common import write_output
from contend.cli.options.option import drawable, writable
from contend.cli.options.shared import CSV, JSON, MARKDOWN, PLOT, PROMETHEUS
from contend.report import Document

# Columns of tables that no terminal shows: names are not to be cut short in a file or a pipe.
_PIPED_WIDTH = 200


@dataclass(frozen=True)
class TextOutputs:
    """Where a result goes that nobody draws. A verb that takes one has these options."""

    json: Annotated[str | None, JSON(callback=writable)] = None
    markdown: Annotated[str | None, MARKDOWN(callback=writable)] = None
    csv: Annotated[str | None, CSV(callback=writable)] = None

    @cached_property
    def console(self) -> Console:
        """Standard output, or nowhere when something else is written there."""
        width = None if sys.stdout.isatty() else _PIPED_WIDTH
        return Console(quiet="-" in self._texts, width=width)

    def check(self, given: dict[str, Any]) -> None:
        """Refuses before any work what could not be delivered.

        Args:
            given: the verb's own arguments.
        """

    def deliver(self, document: Document, *, taken: bool = False) -> None:
        """Prints a result and writes it wherever it was asked for.

        Args:
            document: the result.
            taken: whether the verb has written something else to standard output.

        Raises:
            ShortfallError: after that, where the result falls short.
            ContendError, OSError: after that, where a file beside it could not be written.
        """
        if not taken or document.failure is not None:
            document.print_to(self.console)
        if self.json is not None:
            write_output(self.json, document.json())
        if self.markdown is not None:
            write_output(self.markdown, document.markdown().encode())
        if self.csv is not None:
            write_output(self.csv, document.csv().encode())
        self._draw(document)
        if document.failure is not None:
            raise document.failure
        if document.shortfall:
            raise ShortfallError(document.shortfall)

    def _draw(self, document: Document) -> None:
        pass

    @property
    def _texts(self) -> tuple[str | None, ...]:
        return self.json, self.markdown, self.csv


@dataclass(frozen=True)
class Outputs(TextOutputs):
    """Where a result goes. A verb that takes one, or returns a document, has these options."""

    plot: Annotated[Path | None, PLOT(callback=drawable)] = None

    def check(self, given: dict[str, Any]) -> None:
        """As of `TextOutputs`.

        Raises:
            UsageError: a picture without a figure.
        """
        if self.plot is None and given.get("picture") is not None:
            raise UsageError("--picture says what --plot FILE draws: give both")

    def deliver(self, document: Document, *, taken: bool = False) -> None:
        """As of `TextOutputs`; what cannot be drawn is refused before anything is printed."""
        if self.plot is not None:
            document.drawer()
        super().deliver(document, taken=taken)

    def _draw(self, document: Document) -> None:
        if self.plot is None:
            return
        for path in document.draw(self.plot):
            # Where there are several their names are not the one that was given.
            if path != self.plot:
                self.console.print(str(path), markup=False, highlight=False, soft_wrap=True)


@dataclass(frozen=True)
class MetricOutputs(Outputs):
    """Where a result goes whose figures are worth an alert."""

    prometheus: Annotated[str | None, PROMETHEUS(callback=writable)] = None

    @property
    def _texts(self) -> tuple[str | None, ...]:
        return *super()._texts, self.prometheus

    def deliver(self, document: Document, *, taken: bool = False) -> None:
        """As of `Outputs`, the figures first: a result that falls short has them too."""
        if self.prometheus is not None:
            write_output(self.prometheus, report.metrics_text(document.metrics).encode())
        super().deliver(document, taken=taken)


@dataclass(frozen=True)
class ProgramOutputs(Outputs):
    """Where a result goes of a program that was run: standard output is the program's."""

    @cached_property
    def console(self) -> Console:
        """Standard error."""
        return Console(stderr=True, highlight=False)

    @property
    def of_program(self) -> TextIO | None:
        """Where the program's standard output goes; None for where it would go anyway."""
        return sys.stderr if "-" in self._texts else None
