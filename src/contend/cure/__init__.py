"""Cures: what can be done about congestion, each with what it is worth."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
