"""Reports: tables, figures and JSON of results, by what is reported."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
