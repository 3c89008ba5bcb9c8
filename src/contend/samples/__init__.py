"""What probes wrote: files of samples, folders of runs, and what they say."""

from contend.samples.read import RawSamples, read_samples
from contend.samples.record import Host, LaunchRecord, LibraryRecord, RunRecord, Warned
from contend.samples.run import Run
from contend.samples.tail import Progress, SampleTail

__all__ = [
    "Host",
    "LaunchRecord",
    "LibraryRecord",
    "Progress",
    "RawSamples",
    "Run",
    "RunRecord",
    "SampleTail",
    "Warned",
    "read_samples",
]
