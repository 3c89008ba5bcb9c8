"""Results that notebooks show as the command line prints them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from contend.report import Document


class Shown:
    """A result with one document for terminal, files and notebook.

    A class names the function of `contend.report` that makes its document:
    ``class Failures(Shown, told="failures_document")``. It is imported when somebody looks.
    """

    __slots__ = ()
    _told: ClassVar[str]

    def __init_subclass__(cls, *, told: str = "", **more: Any) -> None:
        """Notes which function of `contend.report` tells such results."""
        super().__init_subclass__(**more)
        if told:
            cls._told = told

    def document(self) -> Document:
        """Verdict, tables, pictures and record of the result."""
        document: Document = getattr(import_module("contend.report"), self._told)(self)
        return document

    def figure(self, name: str | None = None) -> Figure:
        """Draws one of the result's pictures; None is the most telling one.

        Raises:
            UsageError: there is none of that name.
        """
        return self.document().figure(name)

    def _repr_html_(self) -> str:
        return self.document().html()
