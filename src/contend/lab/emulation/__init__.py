"""A switched fabric on this machine: network namespaces, joined as the fabric's cables say."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
