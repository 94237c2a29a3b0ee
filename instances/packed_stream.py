"""A file in MessagePack, read value by value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from ..models.errors import InputError, KubestowError

if TYPE_CHECKING:
    from collections.abc import Callable


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, at most so many; none at the end."""


class PackedStream:
    """What stands in a file, one value after another.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    file : Readable

    Raises
    ------
    KubestowError
        Without the extra `traces`.
    InputError
        By all methods, where the file ends or is not of this shape.
    """

    def __init__(self, name: str, file: Readable) -> None:
        try:
            import msgpack
        except ModuleNotFoundError:
            raise KubestowError(
                f"{name}: reading it needs the extra: pip install 'kubestow[traces]'"
            ) from None
        self._name = name
        self._early = msgpack.OutOfData
        # TypeError: a map has a map or a list as a key
        self._wrong = (ValueError, TypeError, msgpack.UnpackException)
        # 0: as large a value as there is memory for, not 100 MB
        self._unpacker = msgpack.Unpacker(file, strict_map_key=False, max_buffer_size=0)

    def value(self) -> Any:
        """Read a whole value."""
        return self._read(self._unpacker.unpack)

    def map_length(self) -> int:
        """Read the head of a map; so many pairs of values follow."""
        return cast("int", self._read(self._unpacker.read_map_header))

    def list_length(self) -> int:
        """Read the head of a list; so many values follow."""
        return cast("int", self._read(self._unpacker.read_array_header))

    def end(self) -> None:
        """Refuse whatever stands behind the value that was read last."""
        if self._unpacker.read_bytes(1):
            raise InputError(self._name, "", "", "is no trace of SimKube: something stands behind its end")

    def _read(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except self._early:
            raise InputError(self._name, "", "", "is no trace of SimKube: it ends too early") from None
        except self._wrong:
            words = "is no trace of SimKube: it is not MessagePack as SimKube writes it"
            raise InputError(self._name, "", "", words) from None
