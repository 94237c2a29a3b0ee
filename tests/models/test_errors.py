import pytest

from kubestow.models.errors import BoundContradiction, InputError, InternalError, KubestowError


def test_an_input_error_is_one_line_of_the_parts_that_are_known():
    assert (
        str(InputError("f.yaml", "Pod a/b", "spec.x", "must be\n y")) == "f.yaml: Pod a/b: spec.x: must be y"
    )
    assert str(InputError("f.yaml", "", "", "is empty")) == "f.yaml: is empty"


def test_what_a_user_can_cause_ends_with_2_and_a_bug_with_70():
    assert issubclass(InputError, KubestowError)
    assert (KubestowError.exit_code, InternalError.exit_code) == (2, 70)
    assert not issubclass(InternalError, KubestowError)


def test_a_bug_carries_what_is_needed_to_see_it_again():
    error = BoundContradiction("tier 1", {"bound": 3})
    assert isinstance(error, InternalError)
    assert (str(error), error.dump) == ("tier 1", {"bound": 3})
    assert InternalError("oops").dump == {}


def test_what_is_quoted_at_length_is_cut():
    line = str(InputError("f", "Pod default/p", "spec.nodeName", f"must be a name, not {'xy ' * 5000!r}"))
    assert 2000 < len(line) < 2100
    assert line.startswith("f: Pod default/p: spec.nodeName: must be a name, not 'xy xy")


@pytest.mark.parametrize("length, shown", [(63 + 1 + 253, 63 + 1 + 253), (5000, 81)])
def test_a_word_that_is_longer_than_any_name_is_shortened(length, shown):
    name = "n" * length
    line = str(InputError("f", f"Pod {name}", "metadata.name", f"must be shorter, not {name}"))
    found = line.rpartition(" ")[2]
    assert len(found) == shown
    assert len(line) < 2 * shown + 60
    assert ("…" in found) == (length > shown)
