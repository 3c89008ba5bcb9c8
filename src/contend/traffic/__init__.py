"""Who sends to whom, from which seats, and in what order."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from . import pattern, placement, schedule
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
