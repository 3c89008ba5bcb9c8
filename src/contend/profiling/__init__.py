"""What MPI programs communicate: recorded, merged, kept in a folder and loaded."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from . import routines
    from .findings import ProfileFindings
    from .folder import (
        KINDS,
        PROFILE,
        RECORDS,
        SCHEMAS,
        WAITS,
        OtherProgram,
        Phase,
        ProfileRecord,
        is_profile,
        read_profile_record,
        write_profile_record,
    )
    from .hang.cures import cure_of
    from .hang.deadlock import circles
    from .hang.stuck import Awaited, Stuck, UnderWay
    from .merging import merge
    from .phases import Rounds, find_phases
    from .profile import ProgramProfile
    from .programs import rank_words
    from .record_file import RankRecord, read_record
    from .record_form import EventKind
    from .recording import RecordedJob, RecordingOutcome, load_profile, run_recorded
    from .rows import PlaceTime, SizeTime, SpentTime
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
