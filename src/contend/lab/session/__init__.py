"""The one engine: cells under one budget, in turns, resumed, with a cause for every ERR."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .cell import UNSUITED, Attempt, Cell, CellError, Method, Observer, Step, Work
    from .engine import Budget, Clock, FinishedSession, Session
    from .folder import (
        MOST_LAUNCHES,
        RECORD,
        RUNS,
        SESSION,
        Asked,
        NoRoomError,
        SessionRecord,
        asked_cells,
        hold,
        new_folder,
        read_session,
        refuse_occupied,
        session_of,
        write_session,
    )
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
