"""contend in a notebook: work that shows a progress bar, and results that draw themselves."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
