"""Schedules: what ranks do in which order, and carrying it out over time on a fabric."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
