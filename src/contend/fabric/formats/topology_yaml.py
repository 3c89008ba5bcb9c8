"""Slurm's topology.yaml (from 25.05): several topologies by name, of which one is the default."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from contend.base.errors import InputError
from contend.fabric.formats.topology_conf import SlurmTree
from contend.fabric.subnet import Subnet

_HEAD = re.compile(rb"^[^\S\n]*-(?:[^\S\n]*\{)?[^\S\n]*[\"']?topology[\"']?[^\S\n]*:", re.MULTILINE)
_LARGEST_FILE = 1 << 24
_DEEPEST = 16
_READ = ("tree", "block")
_WITHOUT_SWITCHES = ("flat", "ring", "torus3d")


@dataclass
class _Value:
    """A part of the document: a text, a list or an object, the other fields being empty.

    Texts stay as they are written: a node may be called ``no`` or ``0x10``.
    """

    line: int
    text: str | None = None
    is_object: bool = False
    items: list[_Value] = field(default_factory=list)
    members: dict[str, _Value] = field(default_factory=dict)
    key: str | None = None
    """Of an object, the key whose value comes next."""

    def hold(self, part: _Value, source: str) -> None:
        """Takes the next part of a list or object.

        Raises:
            InputError: a key that is no text, or comes twice.
        """
        if not self.is_object:
            self.items.append(part)
        elif self.key is not None:
            self.members[self.key] = part
            self.key = None
        elif part.text is None or part.text in self.members:
            got = "something else" if part.text is None else f"{part.text[:60]!r} again"
            raise InputError(source, part.line, "another setting", got)
        else:
            self.key = part.text


def recognises(head: bytes) -> bool:
    """Whether a topology's entry begins within the head."""
    return _HEAD.search(head) is not None


def read(chunks: Iterable[bytes], source: str) -> Subnet:
    """Reads the default among the topologies that tell switches or blocks, else their first.

    Raises:
        InputError: no YAML, one with aliases, no such topology, a setting that is not of Slurm, or
            what `SlurmTree` refuses.
    """
    document = _document(chunks, source)
    if not document.items:
        raise InputError(source, document.line, "a list of topologies", "none")
    read = [entry for entry in document.items if any(kind in entry.members for kind in _READ)]
    if not read:
        first = document.items[0]
        kinds = [kind for kind in _WITHOUT_SWITCHES if kind in first.members]
        got = f"{kinds[0]}, which names none" if kinds else "neither"
        raise InputError(source, first.line, "a tree or block, which name switches or blocks", got)
    default = [entry for entry in read if _text(entry, "cluster_default").lower() == "true"]
    entry = (default or read)[0]
    notes = []
    if len(document.items) > 1:
        name = _text(entry, "topology")
        notes.append(f'of {len(document.items)} topologies "{name}" is read')
    tree = SlurmTree(source)
    if "tree" in entry.members:
        for switch in _list(entry.members["tree"], "switches", source):
            _expect(switch, ("switch", "children", "nodes"), source)
            below, nodes = _text(switch, "children"), _text(switch, "nodes")
            tree.switch(_text(switch, "switch"), switch.line, nodes=nodes, below=below)
    else:
        blocks = entry.members["block"]
        for block in _list(blocks, "blocks", source):
            _expect(block, ("block", "nodes"), source)
            tree.switch(_text(block, "block"), block.line, nodes=_text(block, "nodes"))
        sizes = _list(blocks, "block_sizes", source) if "block_sizes" in blocks.members else []
        notes.append(
            tree.join_blocks([tree.size(size.text or "", size.line) for size in sizes], blocks.line)
        )
    return tree.subnet(notes)


def _text(value: _Value, key: str) -> str:
    """A setting's text, or its list of texts as one with commas; "" where it is not set."""
    setting = value.members.get(key)
    if setting is None:
        return ""
    return setting.text or ",".join(item.text or "" for item in setting.items)


def _list(value: _Value, key: str, source: str) -> list[_Value]:
    setting = value.members.get(key)
    if setting is None or not setting.items:
        raise InputError(source, value.line, f"a list of {key}", "none")
    return setting.items


def _expect(value: _Value, keys: tuple[str, ...], source: str) -> None:
    for key, setting in value.members.items():
        if key not in keys:
            raise InputError(source, setting.line, ", ".join(keys), repr(key[:60]))


def _document(chunks: Iterable[bytes], source: str) -> _Value:
    """The first document of a file.

    It is built from the parser's events, so that every part has its line, nothing is taken for a
    number or a truth value, and an alias, by which a small file may stand for an endless one, is
    refused where it is met.
    """
    # Not loaded for the sake of other kinds of files.
    import yaml

    held = bytearray()
    for chunk in chunks:
        held += chunk
        if len(held) > _LARGEST_FILE:
            raise InputError(source, 0, f"at most {_LARGEST_FILE} bytes of YAML", "more")
    text = held.decode("utf-8", "replace")
    root = _Value(1)
    open_parts = [root]
    try:
        # libyaml's parser, where PyYAML was built with it, is ten times as fast.
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            line = event.start_mark.line + 1
            if isinstance(event, yaml.DocumentEndEvent):
                break
            if isinstance(event, yaml.AliasEvent):
                raise InputError(source, line, "YAML without aliases", f"*{event.anchor}"[:60])
            if isinstance(event, yaml.CollectionEndEvent):
                open_parts.pop()
            elif isinstance(event, yaml.ScalarEvent):
                open_parts[-1].hold(_Value(line, event.value), source)
            elif isinstance(event, yaml.CollectionStartEvent):
                if len(open_parts) > _DEEPEST:
                    raise InputError(source, line, "a list of topologies", "one nested too deeply")
                part = _Value(line, is_object=isinstance(event, yaml.MappingStartEvent))
                open_parts[-1].hold(part, source)
                open_parts.append(part)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise InputError(
            source, mark.line + 1 if mark else 0, "YAML", error.problem or ""
        ) from None
    except yaml.YAMLError as error:
        raise InputError(source, 0, "YAML", str(error).replace("\n", " ")[:120]) from None
    return root.items[0] if root.items else root
