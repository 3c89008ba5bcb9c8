"""Writes the reference pages that the code itself knows: docs/reference/options.md, lists.md.

Other pages include parts of them, which stand between comments such as ``<!-- patterns -->``.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from typer.core import TyperGroup

from contend.base.errors import EXIT_STATUSES
from contend.cli.app import command
from contend.fabric import catalogue, make
from contend.fabric.formats.fabric_file import COLUMNS, TEXTS
from contend.fabric.formats.topology import READERS, WRITERS
from contend.fabric.generate import clos, grid, low_diameter, trees
from contend.routes import HOLD_ROUTES, KINDS, engine_names
from contend.routes.dumps.readers import TABLE_READERS
from contend.routes.saving import ENDINGS
from contend.traffic.pattern import FORMS
from contend.traffic.schedule import DIRECT

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "reference"
_PARAGRAPH = "\n\n"
_PROBES = ROOT / "src" / "contend" / "probes"

_OPTIONS = """\
# Options of every command

An option means the same in every command that has it. `N,...` is a list with commas between.
[How numbers, sizes, rates and times are written](words.md#numbers-sizes-rates-and-times) is the
same everywhere, too. Every command also has `--help`, and `contend` itself has `--version`,
`--debug`, which prints the traceback if contend itself fails, and `--install-completion`, which has
the shell complete commands and options (bash, zsh, fish).
"""
_LISTS = """\
# Lists

What can be named on the command line, as the code has it; other pages include these lists.
"""


def pages() -> dict[Path, str]:
    """Every page that is written, by its file."""
    return {FOLDER / "options.md": _options_page(), FOLDER / "lists.md": _lists_page()}


def verbs(group: Any = None, path: str = "contend") -> dict[str, Any]:
    """The command of every verb, by what is typed to run it."""
    found: dict[str, Any] = {}
    for name, below in sorted((group or command()).commands.items()):
        if isinstance(below, TyperGroup):
            found.update(verbs(below, f"{path} {name}"))
        else:
            found[f"{path} {name}"] = below.command
    return found


def _options_page() -> str:
    commands = verbs()
    parts = [_OPTIONS]
    for path, verb in commands.items():
        parts.append(f"## {path}\n")
        parts.append(f"{_plain(verb.help.partition(_PARAGRAPH)[0])}\n")
        name = path.removeprefix("contend ").replace(" ", "-")
        parts.append(_part(name, _usage(path, verb), *_tables(verb, _keys(path))))
    parts.append("## By name\n")
    parts.append(_table(("option", "meaning", "commands"), _by_name(commands)))
    return "\n".join(parts)


def _usage(path: str, verb: Any) -> str:
    words = [path]
    arguments = [each for each in verb.params if each.param_type_name == "argument"]
    for each in arguments:
        shown = _argument(each)
        words.append(shown if each.required else f"[{shown}]")
    # What belongs to another program stands behind all options.
    words.insert(len(words) - ("--" in words[-1]), "[OPTIONS]")
    return f"    {' '.join(words)}\n"


def _argument(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper()).strip("{}[]")


def _keys(path: str) -> str:
    """Where the page of keys has those of a command, "" if nowhere."""
    for heading in re.findall(r"^## (contend .*)$", (FOLDER / "json.md").read_text(), re.M):
        if any(f"{path} ".startswith(f"{name} ") for name in heading.split(", ")):
            anchor = heading.replace(",", "").replace(" ", "-")
            return f" See [the keys of the JSON](json.md#{anchor})."
    return ""


def _tables(verb: Any, keys: str) -> Iterator[str]:
    arguments = [
        (_code(_argument(each)), _without_default(each.help or "")[0])
        for each in verb.params
        if each.param_type_name == "argument"
    ]
    if arguments:
        yield _table(("argument", "meaning"), arguments)
    rows = []
    for option in _options_of(verb):
        means, default = _without_default(option.help or "")
        if not default and option.show_default and option.default not in (None, False, ()):
            default = _plain(str(option.default))
        if option.required:
            default = "*required*"
        rows.append((_named(option), means + keys * ("--json" in option.opts), default))
    yield _table(("option", "meaning", "default"), rows)


def _options_of(verb: Any) -> list[Any]:
    return [
        each for each in verb.params if each.param_type_name == "option" and each.name != "help"
    ]


def _named(option: Any) -> str:
    takes = "" if option.is_flag else f" {option.metavar or ''}".rstrip()
    if takes.startswith(" <"):
        takes = ""
    names = sorted({*option.opts, *option.secondary_opts}, key=lambda name: (len(name) < 3, name))
    return ", ".join([_code(f"{names[0]}{takes}"), *map(_code, names[1:])])


def _without_default(text: str) -> tuple[str, str]:
    """The help of an option, and the default that is told at its end."""
    means, _, default = _plain(text).partition(" [default: ")
    return means, default.removesuffix("]")


def _by_name(commands: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    users: dict[str, list[str]] = defaultdict(list)
    meanings: dict[str, str] = {}
    for path, verb in commands.items():
        for option in _options_of(verb):
            # Lists and single values are one option.
            name = _named(option).replace(",...", "")
            users[name].append(path.removeprefix("contend "))
            meanings[name] = re.split(r"[:;,] (?!not only)|\.(?= |$)", _plain(option.help or ""))[0]
    anchors = {path: path.replace(" ", "-") for path in commands}
    return [
        (
            name,
            f"{meanings[name]}.",
            ", ".join(f"[{user}](#{anchors[f'contend {user}']})" for user in users[name])
            if len(users[name]) < len(commands) / 2
            else f"{len(users[name])} commands",
        )
        for name in sorted(users)
    ]


def _lists_page() -> str:
    parts = [_LISTS]
    for title, name, table in (
        ("Patterns", "patterns", _table(("pattern", "messages"), _patterns())),
        ("Routing engines", "engines", _table(("engine", "what it does"), _engines())),
        ("Generators", "generators", _table(_GENERATOR_HEAD, _generators())),
        ("Generators, one by one", "each generator", _each_generator()),
        ("All-to-all schedules", "schedules", _table(("algorithm", "what it does"), _schedules())),
        ("Formats that are read", "formats", _table(("format", "what it gives"), _formats())),
        ("Kinds of files that are written", "kinds", _table(_KIND_HEAD, _kinds())),
        ("Columns of .fabric files", "columns", _table(("column", "bits", "length"), _columns())),
        ("Exit statuses", "statuses", _table(("status", "meaning"), _statuses())),
    ):
        parts += [f"## {title}\n", _part(name, table)]
    return "\n".join(parts)


def _patterns() -> list[tuple[str, str]]:
    return [(f"`{each.form}`", _plain(each.meaning)) for each in FORMS]


def _engines() -> list[tuple[str, str]]:
    return [(f"`{name}`", _plain(about)) for name, about in engine_names().items()]


_KIND_HEAD = ("kind", "file names that end in", "holds routes")
_GENERATOR_HEAD = ("specification", "what it is", "example", "hosts", "switches", "cables")


def _generators() -> Iterator[tuple[str, ...]]:
    for family in catalogue():
        fabric = make(family.example)
        sizes = (fabric.hosts, fabric.switches, fabric.cables)
        yield (
            f"`{family.form}`",
            _plain(family.summary),
            f"`{family.example}`",
            *(f"{size:,}" for size in sizes),
        )


# Functions that are not called as their family is.
_MAKERS = {
    **dict.fromkeys(("torus", "mesh", "ring"), "grid"),
    "rails": "rail_optimised",
    "random": "random_regular",
}
# Arguments that no specification has.
_NOT_WRITTEN = r"^- `(family|wrap)`: .*\n"


def _each_generator() -> str:
    """What the functions that make fabrics say of themselves, each once."""
    families: dict[str, list[str]] = defaultdict(list)
    texts: dict[str, str] = {}
    for family in catalogue():
        name = _MAKERS.get(family.name, family.name)
        makers = (getattr(module, name, None) for module in (clos, grid, low_diameter, trees))
        if (maker := next(filter(None, makers), None)) and maker.__doc__:
            families[maker.__name__].append(f"**{family.name}**")
            texts[maker.__name__] = inspect.cleandoc(maker.__doc__)
    return "\n".join(
        f"{', '.join(names)}: {_paragraphs(texts[maker])}" for maker, names in families.items()
    )


def _paragraphs(docstring: str) -> str:
    """A docstring as Markdown, with its arguments as a list and without its errors."""
    text = docstring.partition("\nRaises:")[0].rstrip().replace("``", "`")
    text = re.sub(r"^Source: (.*)", r"*Source:* \1", text, flags=re.M)
    text = re.sub(r"^Args:\n", "", text, flags=re.M)
    text = re.sub(r"^    (\w+): ", r"- `\1`: ", text, flags=re.M)
    text = re.sub(_NOT_WRITTEN, "", text, flags=re.M)
    # What goes on below is part of the point above.
    return (
        re.sub(r"\n {4,}", " ", text).replace("*", r"\*").replace(r"\*Source:\*", "*Source:*")
        + "\n"
    )


def _columns() -> Iterator[tuple[str, str, str]]:
    for name, (kind, count) in COLUMNS.items():
        yield f"`{name}`", str(8 * int(kind[-1])), count
    for name, count in TEXTS.items():
        yield f"`{name}`", "text", count or "1"


def _schedules() -> list[tuple[str, str]]:
    """The schedules of the all-to-all probe, in the order of its catalogue."""
    folder = _PROBES / "alltoall"
    source = "\n".join(file.read_text() for file in sorted(folder.glob("*.cpp")))
    about = {
        function: (name, "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', texts)))
        for function, name, texts in re.findall(
            r'^Algorithm (\w+)\(\) \{[^"}]*\{\s*"([\w-]+)",\s*((?:"(?:[^"\\]|\\.)*"\s*)+)',
            source,
            re.M,
        )
    }
    listed = re.search(r"made\{(.*?)return made", (folder / "catalogue.cpp").read_text(), re.S)
    assert listed is not None
    rows: list[tuple[str, str]] = []
    for each in re.findall(r"(direct|\w+(?=\(\)))\(", listed[1]):
        if each == "direct":
            rows += [(direct.name, direct.summary) for direct in DIRECT.values()]
        elif each in about:
            rows.append(about[each])
    return [(f"`{name}`", _plain(text)) for name, text in rows]


def _formats() -> list[tuple[str, str]]:
    with_routes = [WRITERS[kind] for kind in HOLD_ROUTES & WRITERS.keys()]
    readers = {
        name: "topology and routes" if getattr(reader, "write", None) in with_routes else "topology"
        for name, reader in READERS.items()
    }
    return [*readers.items(), *((name, "routes") for name in TABLE_READERS)]


def _kinds() -> list[tuple[str, str, str]]:
    endings: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for ending, kind in ENDINGS.items():
        endings[kind].append(f"`{ending}`")
    return [
        (f"`{kind}`", ", ".join(named), "yes" if kind in HOLD_ROUTES else "")
        for kind, named in endings.items()
    ]


def _statuses() -> list[tuple[str, str]]:
    return [(str(status), _plain(text)) for status, text in EXIT_STATUSES.items()]


def _part(name: str, *texts: str) -> str:
    """Text that other pages include."""
    return "\n".join((f"<!-- {name} -->\n", *texts, f"<!-- end of {name} -->\n"))


def _code(text: str) -> str:
    return f"`{text}`".replace("|", r"\|")


def _table(head: Sequence[str], rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _plain(text: str) -> str:
    """Text of the terminal as Markdown."""
    shown = " ".join(text.replace("\\[", "[").replace("``", "`").split())
    # Two hyphens would become a dash.
    shown = re.sub(r"(?<![\w`-])(--[a-z][a-z-]+)", r"`\1`", shown)
    return re.sub(r"([|<*])", r"\\\1", shown)


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text)
        sys.stdout.write(f"{page}\n")
