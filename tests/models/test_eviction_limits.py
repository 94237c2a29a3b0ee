"""Which pods a limit on evictions names."""

import pytest

from kubestow.models.eviction_limits import EvictionLimits, PodSelector


@pytest.mark.parametrize(
    "text, holds",
    [
        pytest.param("app=web", True, id="labels, in every namespace"),
        pytest.param("app in (db, web)", True, id="a list of values"),
        pytest.param("app!=web", False, id="other labels"),
        pytest.param("example.com/app=web", False, id="a key with a prefix is no namespace"),
        pytest.param("shop:app=web", True, id="labels in the pod's namespace"),
        pytest.param("bank:app=web", False, id="the same labels in another namespace"),
        pytest.param("shop:", True, id="the whole namespace"),
        pytest.param("bank:", False, id="another namespace"),
        pytest.param(" app=web ", True, id="blanks around it"),
    ],
)
def test_a_selector_names_pods(text, holds):
    selector = PodSelector.parse(text)
    assert selector.matches("shop", {"app": "web"}) is holds
    assert PodSelector.parse(str(selector)) == selector


@pytest.mark.parametrize(
    "text, words",
    [
        pytest.param("", "it is empty", id="nothing"),
        pytest.param("  ", "it is empty", id="blanks"),
        pytest.param(":app=web", "a namespace must be a DNS label", id="no namespace before the colon"),
        pytest.param("a:b:app=web", "a namespace must be a DNS label", id="two colons"),
        pytest.param("app=web,", "the end stands where", id="a comma at the end"),
    ],
)
def test_what_is_no_selector_is_told(text, words):
    with pytest.raises(ValueError, match=words):
        PodSelector.parse(text)


@pytest.mark.parametrize(
    "limits, limited, spared",
    [
        pytest.param(EvictionLimits(), False, False, id="no limit"),
        pytest.param(EvictionLimits(evictions=0), True, True, id="no evictions spare everybody"),
        pytest.param(EvictionLimits(evictions=1), True, False, id="a number spares nobody"),
        pytest.param(EvictionLimits(violations=0), True, False, id="no violations spare nobody"),
        pytest.param(EvictionLimits(never=(PodSelector("app=web"),)), True, True, id="named"),
        pytest.param(EvictionLimits(never=(PodSelector("app=db"),)), True, False, id="others are named"),
    ],
)
def test_limits_spare_pods(limits, limited, spared):
    assert bool(limits) is limited
    assert limits.spares("shop", {"app": "web"}) is spared
