"""Port counters as time goes by: what every cable carries now, since when, and whom that hurts."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
