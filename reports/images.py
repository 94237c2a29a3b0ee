"""Figures as files, drawn by matplotlib without a display: SVG, PNG or PDF, the same for the same figure."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..models.errors import KubestowError
from .html.reading import INSTALL

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

_FORMATS: Final = (".svg", ".png", ".pdf")
_DATES: Final = {".svg": "Date", ".pdf": "CreationDate"}


def save(path: str, make: Callable[[], Figure]) -> None:
    """Draw a figure into a file, whose ending says the format.

    Raises
    ------
    KubestowError
        For another ending, without matplotlib, and where the file cannot be written.
    """
    if not path.lower().endswith(_FORMATS):
        raise KubestowError(f"{path}: the name of a figure ends with {', '.join(_FORMATS[:-1])} or .pdf")
    try:
        import matplotlib  # noqa: F401 - what needs it says so before anything is computed
    except ImportError:
        raise KubestowError(f"--plot needs matplotlib: {INSTALL}") from None

    image = drawn(make(), Path(path).suffix.lower())
    try:
        Path(path).write_bytes(image)
    except OSError as error:
        raise KubestowError(f"{path}: cannot be written: {error.strerror}") from None


def drawn(figure: Figure, ending: str) -> bytes:
    """Return a figure in the format of a file's ending."""
    import matplotlib as mpl

    image = BytesIO()
    # The same input makes the same file: no date, no random ids.
    with mpl.rc_context({"svg.hashsalt": "kubestow"}):
        undated = {} if ending == ".png" else {_DATES[ending]: None}
        figure.savefig(image, format=ending[1:], metadata=undated, dpi=200)
    return image.getvalue()


def empty(*, width: float, height: float) -> Figure:
    """Return a figure of so many inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
