"""The one engine: cells under one budget, in turns, resumed, with a cause for every ERR."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
