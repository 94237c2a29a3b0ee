"""A plan names the domains of groups of groups, and the replay holds it to them."""

import pytest
from support.builders import cluster, composite, group, node, pod
from support.proof import OPTIONS, solve_and_replay

from kubestow.framework.build import build_cluster
from kubestow.solver.plans.replay import ReplayFailure, replay

ROUND = cluster(
    [node(name, cpu="1").label(rack=name, block=name[0]) for name in ("a1", "b1", "b2")],
    composite("root", "block", gang=2),
    group("x", "rack", gang=1, parent="root"),
    group("y", gang=1, parent="root"),
    [pod(name).req(cpu="1").member(name) for name in ("x", "y")],
    release="1.37",
)


def test_both_schedulers_name_the_domain_of_a_composite():
    for plan in solve_and_replay(ROUND):
        (found,) = plan.composite_placements
        assert (found.composite_pod_group, found.key, found.domain, found.scheduled) == (
            "default/root",
            "block",
            "b",
            2,
        )
        assert [item.pod_group for item in plan.placements] == ["default/x"]
        written = plan.model_dump(by_alias=True)["compositePlacements"]
        assert [entry["compositePodGroup"] for entry in written] == ["default/root"]


@pytest.mark.parametrize("change", [{"domain": "a"}, {"scheduled": 1}, {"composite_pod_group": "default/x"}])
def test_another_domain_contradicts_the_steps(change):
    plan, _ = solve_and_replay(ROUND, OPTIONS)
    (placement,) = plan.composite_placements
    other = plan.model_copy(update={"composite_placements": (placement.model_copy(update=change),)})
    with pytest.raises(ReplayFailure, match="placements are not the domains"):
        replay(build_cluster(ROUND), other)
