"""Traffic patterns: rounds of simultaneous messages between ranks."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
