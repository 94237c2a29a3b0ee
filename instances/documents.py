"""From a file's bytes to its documents: JSON (`json_text`), or YAML as kubectl reads it (`yaml_text`)."""

import codecs
import re
from collections.abc import Iterator
from typing import Any

from ..models.errors import InputError
from ..models.progress import Watch, unwatched
from .json_text import read_json_documents
from .yaml_text import read_yaml


def read_documents(
    file: str, content: bytes, watch: Watch = unwatched, *, in_slices: bool = False
) -> Iterator[Any]:
    """Yield the documents of a file; None for an empty one. `watch` hears of the bytes of YAML.

    Parameters
    ----------
    in_slices : bool
        Whether a long list may come with `json_lists.Items` as its items, which are made as they are used.

    Raises
    ------
    InputError
        If the content is neither JSON nor YAML.
    """
    content = _as_utf8(file, content)
    start = content[:_START].lstrip()
    if start[:1] not in (b"{", b"["):
        yield from read_yaml(file, content, watch)
        return
    try:
        documents = read_json_documents(file, content, in_slices=in_slices)
    except InputError as no_json:
        if file.lower().removesuffix(".gz").endswith(".json") and not _SEPARATOR.search(content):
            raise
        try:
            documents = list(read_yaml(file, content, watch))
        except InputError:
            # YAML's short form begins as JSON does, but seldom with quotation marks.
            if _JSON.match(start):
                raise no_json from None
            raise
    yield from documents


def the_document(file: str, content: bytes, what: str) -> Any:
    """Return the one document that a file holds.

    Raises
    ------
    InputError
        If it is none or several, too.
    """
    documents = [item for item in read_documents(file, content) if item is not None]
    if not documents:
        raise InputError(file, "", "", f"is empty; what is needed is {what}")
    if len(documents) > 1:
        raise InputError(file, "", "", f"must hold one document, {what}, not {len(documents)}")
    return documents[0]


_START = 4096
_PIECE = 1 << 20
_SEPARATOR = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)
_JSON = re.compile(rb'[\[{]\s*["{\[]')

_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def _as_utf8(file: str, content: bytes) -> bytes:
    """Drop a byte order mark; some shells write their output in UTF-16."""
    mark, encoding = next((pair for pair in _ENCODINGS if content.startswith(pair[0])), (b"", "utf-8"))
    content = content[len(mark) :]
    if encoding == "utf-8" and _is_utf8(content):
        return content
    try:
        return content.decode(encoding).encode()
    except UnicodeDecodeError as error:
        raise InputError(file, "", "", f"is not text in UTF-8: byte {error.start} cannot be read") from None


def _is_utf8(content: bytes) -> bool:
    """Whether content is UTF-8, looked at in pieces: as text it takes up to four times as much."""
    if content.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), _PIECE):
            decoder.decode(content[start : start + _PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
