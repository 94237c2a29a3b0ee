"""Garbage collection while very many objects are made at once."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Switch cyclic garbage collection off: a full one may take longer than what it comes amid.

    What was made meanwhile is young afterwards, as it would be without this.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def no_collection() -> Iterator[None]:
    """Switch cyclic garbage collection off: it would walk millions of fresh objects, none of them garbage.

    Afterwards they are old ones, which only a full collection walks.
    """
    was_enabled = gc.isenabled()
    with collection_paused():
        try:
            yield
        finally:
            if was_enabled and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()


def collect_young() -> None:
    """Free garbage that was made lately, within `no_collection`; old objects are not walked."""
    gc.collect(1)
