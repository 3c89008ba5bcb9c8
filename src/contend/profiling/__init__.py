"""What MPI programs communicate: recorded, merged, kept in a folder and loaded."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
