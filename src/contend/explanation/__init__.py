"""Which limit a measurement hit: the least times that limits allow, and what is proven by them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
