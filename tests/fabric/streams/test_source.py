from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from contend.base.errors import InputError, UsageError
from contend.fabric import naming, open_chunks, peek
from contend.fabric.streams.compressed import PIECE
from contend.fabric.streams.source import HEAD

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "Zstandard": zstandard.compress,
}
# Neither all alike nor larger than it need be: two pieces and a bit.
CONTENT = bytes(range(251)) * (2 * PIECE // 251 + 7)


@pytest.fixture(params=COMPRESS)
def title(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def written(folder: Path, content: bytes) -> str:
    path = folder / "content"
    path.write_bytes(content)
    return str(path)


def test_plain_content_comes_in_pieces_of_a_mebibyte(tmp_path: Path) -> None:
    sizes = [len(piece) for piece in open_chunks(written(tmp_path, CONTENT))]
    assert sizes == [PIECE, PIECE, len(CONTENT) - 2 * PIECE]


def test_compressed_content_is_recognised_without_a_suffix(tmp_path: Path, title: str) -> None:
    chunks = open_chunks(written(tmp_path, COMPRESS[title](CONTENT)))
    assert b"".join(chunks) == CONTENT


def test_several_streams_and_padding_read_as_one(tmp_path: Path, title: str) -> None:
    compress = COMPRESS[title]
    streams = compress(b"one ") + compress(b"") + compress(b"two") + b"\0" * 8
    assert b"".join(open_chunks(written(tmp_path, streams))) == b"one two"


@pytest.mark.parametrize("kept", [0.01, 0.5, 0.999])
def test_a_stream_cut_off_is_an_error(tmp_path: Path, title: str, kept: float) -> None:
    whole = COMPRESS[title](CONTENT)
    path = written(tmp_path, whole[: max(int(kept * len(whole)), 12)])
    with pytest.raises(InputError, match=f"expected a whole {title} stream"):
        b"".join(open_chunks(path))


def test_a_damaged_stream_is_an_error(tmp_path: Path, title: str) -> None:
    whole = bytearray(COMPRESS[title](CONTENT))
    whole[len(whole) // 2] ^= 0xFF
    # Zstandard has no checksum unless asked for, but its blocks do not survive this.
    with pytest.raises(InputError, match=f"expected a whole {title} stream"):
        b"".join(open_chunks(written(tmp_path, bytes(whole) + b"no stream")))


class Pipe(io.BytesIO):
    """Written once, in order, as ``zip -`` does; sizes stand behind the files."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: int) -> int:
        raise io.UnsupportedOperation

    def tell(self) -> int:
        raise io.UnsupportedOperation


def zipped(
    files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED, *, pipe: bool = False
) -> bytes:
    out = Pipe() if pipe else io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def overlapping() -> bytes:
    """A .zip whose directory names its one file twice."""
    whole = zipped({"a": CONTENT})
    begin, end = whole.index(b"PK\1\2"), whole.index(b"PK\5\6")
    tail = bytearray(whole[end:])
    tail[8:12] = b"\2\0\2\0"
    tail[12:16] = (2 * (end - begin)).to_bytes(4, "little")
    return whole[:end] + whole[begin:end] + bytes(tail)


@pytest.mark.parametrize("pipe", [False, True])
def test_a_zip_of_one_file_is_that_file(tmp_path: Path, pipe: bool) -> None:
    beside = {"net/": b"", "net/dump": CONTENT, "__MACOSX/net/._dump": b"icon"}
    for files in ({"dump": CONTENT}, beside):
        path = written(tmp_path, zipped(files, pipe=pipe))
        assert b"".join(open_chunks(path)) == CONTENT
    stored = zipped({"dump": CONTENT}, zipfile.ZIP_STORED)
    assert b"".join(open_chunks(written(tmp_path, stored))) == CONTENT


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped({"a": b"1", "b": b"2"}), "expected one file in the .zip, got 'a' and 'b'"),
        (zipped({}), "expected one file in the .zip, got none"),
        (zipped({"a": b"1"}, zipfile.ZIP_BZIP2), "expected a .zip packed by deflate"),
        (zipped({"a": CONTENT})[:-100], "expected a whole zip stream"),
        (zipped({"a": CONTENT})[:200], "expected a whole zip stream"),
        (zipped({"a": b"text"}, 0).replace(b"text", b"next"), "got Bad CRC-32 for file 'a'"),
        (overlapping(), "expected a whole zip stream, got files that overlap"),
        (zipped({"a": b"1"}).replace(b"a", b"\0"), "a whole zip stream, got a file without a name"),
    ],
)
def test_any_other_zip_is_an_error(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        b"".join(open_chunks(written(tmp_path, content)))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_as_utf_8(tmp_path: Path, encoding: str) -> None:
    text = "Switch 4 caf\u00e9 \U0001f680\r\n" * 70000
    path = written(tmp_path, text.encode(encoding))
    assert b"".join(open_chunks(path)).decode() == text


def test_a_stream_of_zeros_never_fills_memory(tmp_path: Path, title: str) -> None:
    path = written(tmp_path, COMPRESS[title](bytes(64 * PIECE)))
    tracemalloc.start()
    try:
        total = sum(map(len, open_chunks(path)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert total == 64 * PIECE
    assert peak < 32 * PIECE


def test_standard_input_is_called_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        buffer = io.BytesIO(gzip.compress(b"piped"))

    monkeypatch.setattr("sys.stdin", Input())
    assert b"".join(open_chunks("-")) == b"piped"


def test_files_that_cannot_be_read_give_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere: no such file"):
        open_chunks(str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="is a folder, not a file"):
        open_chunks(str(tmp_path))
    with pytest.raises(UsageError, match="null"):
        open_chunks("a\0b")


def test_an_empty_file_has_no_pieces(tmp_path: Path) -> None:
    assert list(open_chunks(written(tmp_path, b""))) == []


@given(st.lists(st.binary(max_size=HEAD), max_size=5))
def test_peeking_loses_nothing(pieces: list[bytes]) -> None:
    head, chunks = peek(iter(pieces))
    content = b"".join(pieces)
    assert head == content[:HEAD]
    assert b"".join(chunks) == content


def test_an_error_without_a_source_gets_it() -> None:
    with pytest.raises(InputError, match=r"^net\.txt:3: expected a, got b$"), naming("net.txt"):
        raise InputError("", 3, "a", "b")


def test_an_error_with_a_source_keeps_it() -> None:
    with pytest.raises(InputError, match=r"^inner: expected a, got b$"), naming("net.txt"):
        raise InputError("inner", 0, "a", "b")
