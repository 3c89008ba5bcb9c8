"""contend in a notebook: work that shows a progress bar, and results that draw themselves."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .programs import Profile, profile
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
