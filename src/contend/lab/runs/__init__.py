"""What probes wrote: files of samples, folders of runs, and what they say."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
