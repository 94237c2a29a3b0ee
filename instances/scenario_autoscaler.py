"""The autoscaler of a scenario: its groups of nodes and how it goes about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from ..models.node import ZONE, Node
from ..models.scenario import Autoscaler, Expander, NodeGroup
from .one_object import object_in

if TYPE_CHECKING:
    from .scenario_reader import Section


def read_autoscaler(section: Section) -> Autoscaler:
    """Read the section `autoscaler`."""
    usual = Autoscaler(())
    expander: Any = section.text("expander", usual.expander)
    if expander not in get_args(Expander):
        raise section.fault("expander", f"must be one of {', '.join(get_args(Expander))}, not {expander!r}")
    groups = tuple(_group(each) for each in section.sections("groups"))
    names = [group.name for group in groups]
    for name in names:
        if names.count(name) > 1:
            raise section.fault("groups", f"two node groups are called {name!r}")
    found = Autoscaler(
        groups=groups,
        scan=section.time("scanInterval", usual.scan),
        expander=expander,
        backoff=section.time("backoff", usual.backoff),
        longest_backoff=section.time("longestBackoff", usual.longest_backoff),
        unneeded=section.time("unneeded", usual.unneeded),
        seed=section.whole("seed", 0),
    )
    section.close()
    if found.scan <= 0:
        raise section.fault("scanInterval", "must be longer than 0s")
    return found


def _group(section: Section) -> NodeGroup:
    usual = NodeGroup("", Node())
    name = section.text("name")
    template = section.section("template", required=True)
    labels, allocatable = template.strings("labels"), template.mapping("allocatable")
    zone = template.text("zone", "")
    taints = template.list_of("taints")
    template.close()
    if not allocatable:
        raise template.fault("allocatable", "required")
    raw = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**({ZONE: zone} if zone else {}), **labels}},
        "spec": {"taints": list(taints)},
        "status": {"allocatable": {"pods": "110", **allocatable}},
    }
    node = object_in(template, raw, "")
    assert isinstance(node, Node)
    group = NodeGroup(
        name=name,
        template=node,
        least=section.whole("min", usual.least),
        most=section.whole("max", usual.most),
        price=section.number("price", usual.price),
        provisioning=section.time("provisioning", usual.provisioning),
        sold_out=section.flag("soldOut"),
        refusal=section.time("refusal", usual.refusal),
    )
    section.close()
    if not 0 <= group.least <= group.most:
        raise section.fault("min", f"must be between 0 and max, not {group.least}")
    return group
