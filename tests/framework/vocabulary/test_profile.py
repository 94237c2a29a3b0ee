import pytest
from support.builders import node, pod
from support.filtering import Look, pass_over, profile

from kubestow.framework.vocabulary import names
from kubestow.framework.vocabulary.default_plugins import (
    FILTER,
    PLUGINS,
    POST_FILTER,
    PRE_FILTER,
    PRE_SCORE,
    SCORE,
)
from kubestow.framework.vocabulary.profile import expand
from kubestow.framework.vocabulary.releases import RELEASES
from kubestow.models.config import KubeSchedulerConfiguration
from kubestow.models.errors import KubestowError
from kubestow.models.features import FeatureGates
from kubestow.models.kube_version import KubeVersion

FILTERS = [
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
    "NodeDeclaredFeatures",
]
SCORES = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "VolumeBinding": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}


def expanded(release=KubeVersion.V1_36, **plugins):
    configured = KubeSchedulerConfiguration.model_validate(profile(**plugins)).profiles[0]
    return expand(configured, RELEASES[release], FeatureGates())


def test_the_default_profile():
    default = expanded()
    assert list(default.points[FILTER]) == FILTERS
    assert list(default.points[PRE_FILTER]) == FILTERS[3:]
    assert list(default.points[PRE_SCORE]) == [
        name for name in SCORES if name not in ("ImageLocality", "DynamicResources")
    ]
    assert list(default.points[SCORE]) == list(SCORES)
    assert default.points[POST_FILTER] == ("DynamicResources", "DefaultPreemption")
    assert dict(default.weights) == SCORES


def test_devices_do_not_score_in_1_34_and_nodes_declare_nothing():
    default = expanded(KubeVersion.V1_34)
    assert list(default.points[FILTER]) == FILTERS[:-1]
    assert list(default.points[SCORE]) == [name for name in SCORES if name != "DynamicResources"]


def test_every_plugin_has_extension_points_and_one_name():
    spelled = {value for name, value in vars(names).items() if name.isupper() and isinstance(value, str)}
    assert spelled >= set(PLUGINS)
    assert all(entry.points for entry in PLUGINS.values())


@pytest.mark.parametrize(
    "plugins, point, expected",
    [
        pytest.param(
            {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "ImageLocality", "weight": 7}]}},
            SCORE,
            ("ImageLocality",),
            id="a star switches a point's defaults off",
        ),
        pytest.param(
            {"postFilter": {"disabled": [{"name": "DynamicResources"}]}},
            POST_FILTER,
            ("DefaultPreemption",),
            id="one may be switched off at one point",
        ),
        pytest.param(
            {"filter": {"enabled": [{"name": "InterPodAffinity"}, {"name": "NodePorts"}]}},
            FILTER,
            (
                "InterPodAffinity",
                "NodePorts",
                *(n for n in FILTERS if n not in ("InterPodAffinity", "NodePorts")),
            ),
            id="who is named at a point comes first, in its own order",
        ),
        pytest.param(
            {"multiPoint": {"disabled": [{"name": "NodePorts"}]}},
            FILTER,
            tuple(name for name in FILTERS if name != "NodePorts"),
            id="multiPoint switches a plugin off everywhere",
        ),
        pytest.param(
            {
                "multiPoint": {"disabled": [{"name": "NodePorts"}], "enabled": [{"name": "NodePorts"}]},
            },
            FILTER,
            (*(name for name in FILTERS if name != "NodePorts"), "NodePorts"),
            id="switched off and on again it comes last",
        ),
        pytest.param(
            {
                "multiPoint": {
                    "disabled": [{"name": "*"}],
                    "enabled": [{"name": "PrioritySort"}, {"name": "DefaultBinder"}, {"name": "NodeName"}],
                },
            },
            FILTER,
            ("NodeName",),
            id="multiPoint may start from nothing",
        ),
        pytest.param(
            {
                "multiPoint": {"disabled": [{"name": "NodeName"}]},
                "filter": {"enabled": [{"name": "NodeName"}]},
            },
            FILTER,
            (*(name for name in FILTERS if name != "NodeName"), "NodeName"),
            id="who is only named at the point comes last",
        ),
    ],
)
def test_order(plugins, point, expected):
    assert expanded(**plugins).points[point] == expected


@pytest.mark.parametrize(
    "plugins, weight",
    [
        pytest.param({}, 3, id="the default weight"),
        pytest.param(
            {"score": {"enabled": [{"name": "TaintToleration", "weight": 9}]}}, 9, id="the point's own"
        ),
        pytest.param({"score": {"enabled": [{"name": "TaintToleration"}]}}, 1, id="no weight is 1"),
        pytest.param(
            {"multiPoint": {"enabled": [{"name": "TaintToleration", "weight": 5}]}}, 5, id="multiPoint's"
        ),
        pytest.param(
            {
                "multiPoint": {"enabled": [{"name": "TaintToleration", "weight": 5}]},
                "score": {"enabled": [{"name": "TaintToleration", "weight": 4}]},
            },
            4,
            id="the point's own wins over multiPoint's",
        ),
    ],
)
def test_weights(plugins, weight):
    assert expanded(**plugins).weights["TaintToleration"] == weight
    look = Look(node("a"), pod("p"), configuration=profile(**plugins))
    assert look.scores("TaintToleration") == {"a": 100 * weight}


@pytest.mark.parametrize(
    "plugins, match",
    [
        pytest.param(
            {"filter": {"enabled": [{"name": "Coscheduling"}]}},
            "Coscheduling.*not known",
            id="an unknown plugin",
        ),
        pytest.param(
            {"score": {"enabled": [{"name": "NodeName"}]}},
            "NodeName.*extension point",
            id="a point that it has not",
        ),
        pytest.param(
            {"queueSort": {"disabled": [{"name": "*"}]}},
            "queueSort.*PrioritySort",
            id="no order of the queue",
        ),
        pytest.param(
            {"bind": {"disabled": [{"name": "*"}]}}, "plugins.bind: DefaultBinder", id="nothing that binds"
        ),
        pytest.param(
            {"multiPoint": {"disabled": [{"name": "*"}], "enabled": [{"name": "PrioritySort"}]}},
            "plugins.bind: DefaultBinder",
            id="nothing that binds, switched off with all others",
        ),
        pytest.param(
            {"permit": {"enabled": [{"name": "VolumeBinding"}]}},
            "plugins.permit: plugin VolumeBinding has no extension point 'permit'; it has preFilter, filter,",
            id="a point that no plugin has",
        ),
        pytest.param(
            {"filter": {"enabled": [{"name": "NodePorts"}, {"name": "NodePorts"}]}},
            "plugins.filter.enabled: plugin NodePorts is there twice",
            id="one plugin twice at a point",
        ),
    ],
)
def test_refused(plugins, match):
    with pytest.raises(KubestowError, match=match):
        expanded(**plugins)


def test_each_pod_is_served_by_its_own_profile():
    two = {
        "profiles": [
            {"schedulerName": "default-scheduler"},
            {
                "schedulerName": "packer",
                "pluginConfig": [
                    {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}
                ],
            },
        ]
    }
    running = pod("v").req(cpu="1", memory="2Gi").on("a")
    mine = pod("spread").req(cpu="1", memory="2Gi").created(9)
    cycles = pass_over(
        node("a"),
        node("b"),
        running,
        mine,
        mine.named("pack").scheduler("packer").created(1),
        configuration=two,
    )
    assert cycles["spread"]["node"] == "b"
    assert cycles["pack"]["scores"] == {
        name: scores | {"NodeResourcesFit": 50} for name, scores in cycles["pack"]["scores"].items()
    }


def test_without_score_plugins_the_smallest_name_wins():
    none = profile(score={"disabled": [{"name": "*"}]})
    cycle = pass_over(node("b"), node("a"), pod("v").req(cpu="1").on("a"), pod("p"), configuration=none)["p"]
    assert cycle["node"] == "a"
