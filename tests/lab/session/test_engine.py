"""The engine by itself: order, budget, resumption, ERR, all with a method that takes no time."""

from __future__ import annotations

import errno
from collections import Counter
from pathlib import Path

import pytest

from contend.base.errors import MissingError, UsageError
from contend.lab.runs import Failure
from contend.lab.session import (
    SESSION,
    Attempt,
    Cell,
    NoRoomError,
    Observer,
    Session,
    Step,
    hold,
    read_session,
)
from lab.session.quick import POINTS, Ends, Question, Quick, QuickWork, count


class _Notes(Observer):
    def __init__(self) -> None:
        self.launched: list[tuple[str, int]] = []
        self.ends: list[Attempt] = []
        self.kept_cells: list[str] = []
        self.shares: list[float] = []

    def kept(self, cell: Cell) -> None:
        self.kept_cells.append(cell.words)

    def launching(self, step: Step, seconds: float) -> None:
        self.launched.append((step.cell.words, step.number))
        self.shares.append(seconds)

    def ended(self, step: Step, attempt: Attempt) -> None:
        self.ends.append(attempt)


def _cells(*names: str, **fields: object) -> list[Question]:
    return [Question(name, **fields) for name in names]  # type: ignore[arg-type]


def _works(session: Session[Question]) -> list[QuickWork]:
    works = session.run().works
    assert all(isinstance(work, QuickWork) for work in works)
    return list(works)  # type: ignore[arg-type]


def test_a_key_is_the_question_and_all_of_it() -> None:
    one = Question("x", rate=2.0)
    assert one.key == Question("x", rate=2).key
    assert len({one.key, Question("x").key, Question("y").key, Question("x", ("a",)).key}) == 4
    # What is its default does not count, so that further fields leave older keys as they are.
    assert Question("x").question() == {"type": "quick", "name": "x"}
    assert Question("Open MPI/5: a b").folder_name == f"open-mpi-5-a-b-{one_key('Open MPI/5: a b')}"


def test_a_run_of_another_question_is_not_replaced(tmp_path: Path) -> None:
    Session("test", _cells("a"), Quick(), tmp_path).run()
    for cells in (_cells("b"), _cells("a", "b")):
        with pytest.raises(
            UsageError, match="asked for with other settings: choose another folder"
        ):
            Session("test", cells, Quick(), tmp_path).run()
    assert [asked.question["name"] for asked in read_session(tmp_path).cells] == ["a"]


def one_key(name: str) -> str:
    return Question(name).key[:8]


def test_rounds_come_one_after_the_other_each_in_its_own_order(tmp_path: Path) -> None:
    cells = _cells(*"abcdef", variants=2)
    orders = []
    for seed in (1, 1, 2):
        notes = _Notes()
        folder = tmp_path / f"{len(orders)}"
        Session("test", cells, Quick(), folder, launches=3, seed=seed, observer=notes).run()
        orders.append(notes.launched)
        for turn in range(3):
            members = notes.launched[12 * turn : 12 * turn + 12]
            numbers = (2 * turn, 2 * turn + 1)
            assert Counter(members) == Counter((name, n) for name in "abcdef" for n in numbers)
    assert orders[0] == orders[1] != orders[2]
    rounds = [[name for name, _ in orders[0][12 * turn : 12 * turn + 12]] for turn in range(3)]
    assert rounds[0] != rounds[1]


def test_one_cell_is_the_folder_and_several_are_below_it(tmp_path: Path) -> None:
    Session("test", _cells("a"), Quick(), tmp_path / "one").run()
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["run.json", SESSION]
    Session("test", _cells("a", "b"), Quick(), tmp_path / "two").run()
    names = [asked.folder for asked in read_session(tmp_path / "two").cells]
    assert names == [cell.folder_name for cell in _cells("a", "b")]
    assert all((tmp_path / "two" / name / "run.json").is_file() for name in names)
    with pytest.raises(UsageError, match="a is given twice"):
        Session("test", _cells("a", "a"), Quick(), tmp_path / "three").run()
    assert not (tmp_path / "three").exists()


def test_another_question_is_another_cell(tmp_path: Path) -> None:
    """Never is an answer shown for a question that was not asked."""
    first = Session("test", _cells("a", "b"), Quick(), tmp_path).run()
    method = Quick(lambda step, point: 7.0)
    (old, new) = _works(Session("test", [*_cells("a"), Question("b", rate=2)], method, tmp_path))
    assert method.prepared == ["b"]
    assert old.record.answers == {0: dict.fromkeys(POINTS, 0.0)}
    assert new.record.answers == {0: dict.fromkeys(POINTS, 7.0)}
    # The first answer to b is kept, where it was, and the session knows of it.
    assert [
        len(part) for part in (read_session(tmp_path).cells, read_session(tmp_path).earlier)
    ] == [*(2, 1)]
    assert count(tmp_path) == 3 * len(POINTS)
    assert len(first.works) == 2


def test_what_is_done_is_not_done_again_and_more_launches_add_to_it(tmp_path: Path) -> None:
    Session("test", _cells("a", "b"), Quick(), tmp_path, launches=2).run()
    notes = _Notes()
    Session("test", _cells("a", "b"), Quick(), tmp_path, launches=2, observer=notes).run()
    assert (notes.launched, notes.kept_cells) == ([], ["a", "b"])
    more = _Notes()
    Session("test", _cells("a", "b"), Quick(), tmp_path, launches=3, observer=more).run()
    assert sorted(more.launched) == [("a", 2), ("b", 2)]
    assert count(tmp_path) == 2 * 3 * len(POINTS)


def _ends(cause: str, at: str, point: str | None) -> Quick:
    def answer(step: Step, asked: str) -> float:
        if asked == at and step.cell.words == "a":
            raise Ends(Failure(cause, f"at {at}"), point)  # type: ignore[arg-type]
        return 1.0

    return Quick(answer)


def test_a_point_that_ends_its_launch_is_the_only_err(tmp_path: Path) -> None:
    notes = _Notes()
    session = Session(
        "test", _cells("a", "b"), _ends("crash", "b", "b"), tmp_path, launches=2, observer=notes
    )
    ended, other = _works(session)
    # Begun again without it, and left out of the second launch from the start.
    assert Counter(notes.launched) == Counter({("a", 0): 2, ("a", 1): 1, ("b", 0): 1, ("b", 1): 1})
    assert ended.record.answers == {0: {"a": 1.0, "c": 1.0}, 1: {"a": 1.0, "c": 1.0}}
    assert ended.record.failures == [(0, "b", Failure("crash", "at b"))]
    assert other.record.answers == {n: dict.fromkeys(POINTS, 1.0) for n in (0, 1)}
    # It is not tried again by itself, but when that is asked for.
    again = _Notes()
    Session("test", _cells("a", "b"), Quick(), tmp_path, launches=2, observer=again).run()
    assert again.launched == []
    session = Session(
        "test", _cells("a", "b"), Quick(), tmp_path, launches=2, retry=True, observer=again
    )
    session.run()
    assert sorted(again.launched) == [("a", 0), ("a", 1)]


def test_where_nobody_knows_the_point_the_rest_of_the_cell_is_err(tmp_path: Path) -> None:
    notes = _Notes()
    session = Session(
        "test", _cells("a", "b"), _ends("timeout", "b", None), tmp_path, launches=3, observer=notes
    )
    ended, other = _works(session)
    assert Counter(name for name, _ in notes.launched) == Counter(a=1, b=3)
    assert ended.record.answers == {0: {"a": 1.0}}
    assert ended.record.failures == [(0, None, Failure("timeout", "at b"))]
    assert len(other.record.answers) == 3


def test_points_that_end_launches_again_and_again_are_given_up(tmp_path: Path) -> None:
    def answer(step: Step, asked: str) -> float:
        raise Ends(Failure("crash", asked), asked)

    points = tuple("abcdefgh")
    notes = _Notes()
    session = Session("test", _cells("a", points=points), Quick(answer), tmp_path, observer=notes)
    (work,) = _works(session)
    assert len(notes.launched) == 4
    assert [point for _, point, _ in work.record.failures] == ["a", "b", "c", "d", None]


def test_a_cell_that_cannot_be_launched_is_err_and_the_others_go_on(tmp_path: Path) -> None:
    def answer(step: Step, _: str) -> float:
        if step.cell.words == "a":
            raise MissingError("no such launcher")
        if step.cell.words == "b":
            raise MemoryError
        return 1.0

    a, b, c = _works(Session("test", _cells(*"abc"), Quick(answer), tmp_path / "some", launches=2))
    assert a.record.failures == [
        (a.record.failures[0][0], None, Failure("launch", "no such launcher"))
    ]
    assert b.record.failures[0][2] == Failure("memory", "not enough memory")
    assert len(c.record.answers) == 2
    with pytest.raises(MissingError, match="no such launcher"):
        Session("test", _cells("a", "c"), Quick(answer), tmp_path / "strict", strict=True).run()


def test_a_full_disk_ends_everything(tmp_path: Path) -> None:
    def answer(step: Step, point: str) -> float:
        if point == "b":
            raise OSError(errno.ENOSPC, "No space left on device", "samples")
        return 1.0

    session = Session("test", _cells("a", "b"), Quick(answer), tmp_path)
    with pytest.raises(NoRoomError, match="samples: No space left on device"):
        session.run()
    assert count(tmp_path) == 1
    Session("test", _cells("a", "b"), Quick(), tmp_path).run()
    assert count(tmp_path) == 2 * len(POINTS)


def test_a_budget_is_shared_and_what_is_left_is_for_another_time(tmp_path: Path) -> None:
    now = [0.0]

    def answer(step: Step, _: str) -> float:
        now[0] += 10
        return now[0]

    notes = _Notes()
    session = Session(
        "test",
        _cells(*"abcd"),
        Quick(answer),
        tmp_path,
        budget=60,
        observer=notes,
        clock=lambda: now[0],
    )
    ended = session.run()
    # 15 s of each of four, and what the first took too long is no longer the others': 3 s of each
    # go to starting and ending. The second's 30 s are the last.
    assert notes.shares == pytest.approx([15 - 3, 10 - 3])
    assert len(ended.left) == 2
    assert {step.cell.words for step in ended.left} == set("abcd") - {n for n, _ in notes.launched}
    more = _Notes()
    Session("test", _cells(*"abcd"), Quick(), tmp_path, observer=more).run()
    assert {name for name, _ in more.launched} == {step.cell.words for step in ended.left}


def test_an_interruption_keeps_what_was_made_and_goes_on_later(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(step: Step, point: str) -> float:
        asked.append(point)
        if len(asked) in (2, 4):
            raise KeyboardInterrupt
        return 1.0

    method = Quick(answer)
    counts = []
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            Session("test", _cells("a", "b"), method, tmp_path).run()
        counts.append(count(tmp_path))
    Session("test", _cells("a", "b"), method, tmp_path).run()
    assert [*counts, count(tmp_path)] == [1, 2, 6]
    # What was kept is not asked again: 6 answers and 2 interruptions.
    assert len(asked) == 8


def test_a_refusal_leaves_nothing(tmp_path: Path) -> None:
    method = Quick(refusal=MissingError("no MPI library"))
    with pytest.raises(MissingError):
        Session("test", _cells("a"), method, tmp_path / "runs" / "one").run()
    assert list(tmp_path.iterdir()) == []


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    cells = _cells("a", "b")
    Session("test", cells, Quick(), tmp_path).run()
    with hold(tmp_path):
        with pytest.raises(UsageError, match=r"process \d+ on .* is writing here"):
            Session("test", cells, Quick(), tmp_path).run()
        # A run folder belongs to its session.
        with (
            pytest.raises(UsageError, match="is writing here"),
            hold(tmp_path / cells[0].folder_name),
        ):
            pass
    with hold(tmp_path):
        pass
    assert not (tmp_path / "session.lock").exists()
