"""Garbage collection while very many objects are made at once."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Switch cyclic garbage collection off: it would walk millions of fresh objects, none of them garbage.

    Afterwards they are old ones, which only a full collection walks.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def collect_young() -> None:
    """Free garbage that was made lately, within `no_collection`; old objects are not walked."""
    gc.collect(1)
