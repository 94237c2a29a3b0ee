import gc

import pytest

from kubestow.models.memory import collection_paused, no_collection


def is_in(objects, wanted):
    return any(item is wanted for item in objects)


def test_what_is_made_without_collection_is_old_afterwards():
    with no_collection():
        assert not gc.isenabled()
        made = [{}]
    assert gc.isenabled()
    assert is_in(gc.get_objects(generation=2), made)


def test_what_is_made_while_collection_is_paused_is_young_afterwards():
    with collection_paused():
        assert not gc.isenabled()
        made = [{}]
    assert gc.isenabled()
    assert not is_in(gc.get_objects(generation=2), made)


def test_what_is_frozen_stays_so():
    gc.freeze()
    try:
        with no_collection():
            pass
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


@pytest.fixture
def _without_collection():
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_without_collection")
def test_collection_that_was_off_stays_off():
    with no_collection():
        pass
    assert not gc.isenabled()
