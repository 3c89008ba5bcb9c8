"""The page of JSON keys: written from the structs, complete, and up to date."""

from __future__ import annotations

from types import ModuleType


def test_the_page_is_what_the_structs_say(json_page: ModuleType) -> None:
    written = json_page.PAGE.read_text()
    assert written == json_page.page(), "run tools/json_page.py"


def test_every_key_has_a_meaning(json_page: ModuleType) -> None:
    structs = {
        struct
        for roots in json_page.COMMANDS.values()
        for root in roots
        for struct in json_page.with_nested(root)
    }
    assert len(structs) > 30
    for struct in structs:
        for key, (*_, meaning) in json_page.keys_of(struct).items():
            assert meaning, f"{struct.__name__}.{key}"


def test_no_two_structs_share_a_heading(json_page: ModuleType) -> None:
    headings = [line for line in json_page.page().splitlines() if line.startswith("### ")]
    assert len(headings) == len(set(headings))


def test_every_command_with_json_has_its_keys_on_the_page(
    json_page: ModuleType, reference_pages: ModuleType
) -> None:
    commands = reference_pages.verbs().items()
    told = tuple(", ".join(json_page.COMMANDS).split(", "))
    with_json = [path for path, verb in commands if "json" in {each.name for each in verb.params}]
    assert len(with_json) > 25
    assert [path for path in with_json if not path.startswith(told)] == []
