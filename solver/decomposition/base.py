"""What an engine is: a place where independent pieces of work run.

An engine is handed a function, what all pieces share, and the pieces; it gives back each piece's result as
it comes. It knows nothing of rounds. The same function runs in every engine, so the results are the same
where the function is repeatable.

    work(shared, piece, report) -> result

What `work` raises ends the run; a piece whose process ends without a word has a `Lost` for its result, and
the others go on.

`report(news)` may be called any number of times; engines that can hand it on to `watch(number, news)` while
the piece is still in work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ...models.errors import InternalError

Work = Callable[[Any, Any, Callable[[Any], None]], Any]
Watch = Callable[[int, Any], None]


@dataclass(frozen=True)
class Lost:
    """What became of a piece whose process was killed or crashed."""

    error: InternalError


class Engine(Protocol):
    """See the module's docstring.

    Attributes
    ----------
    slots : int
        How many pieces run at once.
    """

    slots: int

    def run(self, work: Work, shared: Any, pieces: Iterable[Any], watch: Watch) -> Iterator[tuple[int, Any]]:
        """Yield each piece's number and result, in the order in which they are done.

        A piece is taken from the iterable when there is a slot for it. After Ctrl-C no further piece is
        taken; running pieces are notified and return what they have, if anything.
        """
