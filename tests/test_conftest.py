"""The rule that nothing but absent shared data may skip where everything must be installed."""

from __future__ import annotations

from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py").read_text()
LACKING = """
def test_lacks(require_program):
    require_program("no-such-program")
"""
MODULE = """
import pytest
pytest.skip("no-such-program is missing", allow_module_level=True)
"""
SHARED = """
def test_shares(shared_data):
    pass
"""
EXPECTED_FAILURE = """
import pytest
@pytest.mark.xfail(reason="known")
def test_fails():
    raise AssertionError
"""


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.delenv("CONTEND_REQUIRE_ALL", raising=False)
    monkeypatch.setenv("CONTEND_SHARED_DATA", str(pytester.path / "absent"))
    pytester.makeconftest(CONFTEST)
    return pytester


def test_missing_program_skips(inner: pytest.Pytester) -> None:
    inner.makepyfile(LACKING)
    inner.runpytest_inprocess().assert_outcomes(skipped=1)


def test_missing_program_fails_when_all_is_required(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEND_REQUIRE_ALL", "1")
    inner.makepyfile(LACKING)
    result = inner.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no-such-program is not installed*"])


def test_skipped_module_fails_when_all_is_required(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEND_REQUIRE_ALL", "1")
    inner.makepyfile(MODULE)
    inner.runpytest_inprocess().assert_outcomes(errors=1)


def test_absent_shared_data_may_always_skip(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEND_REQUIRE_ALL", "1")
    inner.makepyfile(SHARED)
    inner.runpytest_inprocess().assert_outcomes(skipped=1)


def test_expected_failure_is_no_skip(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEND_REQUIRE_ALL", "1")
    inner.makepyfile(EXPECTED_FAILURE)
    inner.runpytest_inprocess().assert_outcomes(xfailed=1)


def test_shared_data_folder_is_the_one_named(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = inner.mkdir("fabrics")
    monkeypatch.setenv("CONTEND_SHARED_DATA", str(named))
    inner.makepyfile(f"""
def test_folder(shared_data):
    assert str(shared_data) == {str(named)!r}
""")
    inner.runpytest_inprocess().assert_outcomes(passed=1)
