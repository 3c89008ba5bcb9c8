"""Results that notebooks show as the command line prints them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from contend.base.errors import UsageError
from contend.base.schema import rows

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from contend.report import Document


class Shown:
    """A result with one document for terminal, files and notebook.

    A class names the function of `contend.report` that makes its document:
    ``class Failures(Shown, told="failures_document")``. It is imported when somebody looks.
    """

    __slots__ = ()
    _told: ClassVar[str] = ""
    _drawn: ClassVar[str] = ""

    def __init_subclass__(cls, *, told: str = "", drawn: str = "", **more: Any) -> None:
        """Notes which functions of `contend.report` tell such results, and draw them into axes."""
        super().__init_subclass__(**more)
        cls._told = told or cls._told
        cls._drawn = drawn or cls._drawn

    def document(self) -> Document:
        """Verdict, tables, pictures and record of the result."""
        document: Document = getattr(import_module("contend.report"), self._told)(self)
        return document

    @property
    def verdict(self) -> str:
        """What it comes to, in a sentence or a line each for several."""
        return self.document().verdict

    def figure(self, name: str | None = None) -> Figure:
        """Draws one of the result's pictures; None is the most telling one.

        Raises:
            UsageError: there is none of that name.
        """
        return self.document().figure(name)

    def plot(self, picture: str | None = None, ax: Axes | None = None) -> Axes:
        """Draws one of the result's pictures.

        Args:
            picture: its name; None: the most telling one.
            ax: where to draw, for results that can be drawn into axes of somebody's own; None makes
                a figure.

        Returns:
            The axes.

        Raises:
            UsageError: there is none of that name, or it is not drawn into given axes.
        """
        if self._drawn:
            axes: Axes = getattr(import_module("contend.report"), self._drawn)(self, picture, ax)
            return axes
        if ax is not None:
            raise UsageError("ax: this result makes a figure of its own; leave it out")
        return self.figure(picture).axes[0]

    def to_frame(self, member: str | None = None) -> polars.DataFrame:
        """One of the result's lists as a frame, a row for each member; None is the first list."""
        import polars

        frame = polars.DataFrame(rows(self, member), infer_schema_length=None)
        # Numbers of which none is known.
        return frame.with_columns(polars.selectors.by_dtype(polars.Null).cast(polars.Float64))

    def _repr_html_(self) -> str:
        return self.document().html()
