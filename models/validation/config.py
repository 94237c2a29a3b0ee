"""KubeSchedulerConfiguration.

Source: kube-scheduler 1.34.1 apis/config/validation.
"""

from collections.abc import Sequence

from ..base import to_kube_case
from ..config import (
    DefaultPreemptionArgs,
    InterPodAffinityArgs,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PluginArgs,
    PodTopologySpreadArgs,
    ResourceSpec,
    UtilizationShapePoint,
    VolumeBindingArgs,
)
from .faults import Fault, Faults, at_least, required_text, unique, within
from .placement import node_affinity_faults, spread_faults


def configuration_faults(config: KubeSchedulerConfiguration) -> Faults:
    """Find faults of a configuration."""
    yield from at_least(config.parallelism, 1, "parallelism")
    yield from within(config.percentage_of_nodes_to_score, 0, 100, "percentageOfNodesToScore")
    yield from within(config.percentage_of_placements_to_score, 0, 100, "percentageOfPlacementsToScore")
    yield from at_least(config.pod_initial_backoff_seconds, 1, "podInitialBackoffSeconds")
    if config.pod_max_backoff_seconds < config.pod_initial_backoff_seconds:
        yield Fault(
            "podMaxBackoffSeconds",
            f"must be at least podInitialBackoffSeconds, {config.pod_initial_backoff_seconds}",
        )
    for index, profile in enumerate(config.profiles):
        yield from _profile_faults(profile, f"profiles[{index}]")
    yield from unique((profile.scheduler_name for profile in config.profiles), "profiles", "schedulerName")


def _profile_faults(profile: KubeSchedulerProfile, path: str) -> Faults:
    yield from required_text(profile.scheduler_name, f"{path}.schedulerName")
    yield from within(profile.percentage_of_nodes_to_score, 0, 100, f"{path}.percentageOfNodesToScore")
    placements = profile.percentage_of_placements_to_score
    yield from within(placements, 0, 100, f"{path}.percentageOfPlacementsToScore")
    for index, item in enumerate(profile.plugin_config):
        yield from required_text(item.name, f"{path}.pluginConfig[{index}].name")
        yield from _args_faults(item.args, f"{path}.pluginConfig[{index}].args")
    yield from unique((item.name for item in profile.plugin_config), f"{path}.pluginConfig", "name")
    for point, plugins in profile.plugins:
        for index, item in enumerate(plugins.enabled):
            where = f"{path}.plugins.{to_kube_case(point)}.enabled[{index}]"
            yield from required_text(item.name, f"{where}.name")
            yield from at_least(item.weight, 0, f"{where}.weight")


def _args_faults(args: PluginArgs, path: str) -> Faults:
    match args:
        case NodeResourcesFitArgs():
            yield from _fit_faults(args, path)
        case NodeResourcesBalancedAllocationArgs():
            yield from _weight_faults(args.resources, f"{path}.resources")
        case InterPodAffinityArgs():
            yield from within(args.hard_pod_affinity_weight, 0, 100, f"{path}.hardPodAffinityWeight")
        case PodTopologySpreadArgs():
            yield from _spread_args_faults(args, path)
        case NodeAffinityArgs():
            yield from node_affinity_faults(args.added_affinity, f"{path}.addedAffinity")
        case DefaultPreemptionArgs():
            percentage, absolute = args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
            yield from within(percentage, 0, 100, f"{path}.minCandidateNodesPercentage")
            yield from at_least(absolute, 0, f"{path}.minCandidateNodesAbsolute")
            if percentage == 0 and absolute == 0:
                yield Fault(
                    f"{path}.minCandidateNodesPercentage",
                    "cannot be 0 together with minCandidateNodesAbsolute",
                )
        case VolumeBindingArgs():
            yield from at_least(args.bind_timeout_seconds, 0, f"{path}.bindTimeoutSeconds")


def _fit_faults(args: NodeResourcesFitArgs, path: str) -> Faults:
    strategy = args.scoring_strategy
    yield from _weight_faults(strategy.resources, f"{path}.scoringStrategy.resources")
    if strategy.type == "RequestedToCapacityRatio":
        where = f"{path}.scoringStrategy.requestedToCapacityRatio"
        if strategy.requested_to_capacity_ratio is None:
            yield Fault(where, "required with type RequestedToCapacityRatio")
        else:
            yield from _shape_faults(strategy.requested_to_capacity_ratio.shape, f"{where}.shape")


def _weight_faults(resources: Sequence[ResourceSpec], path: str) -> Faults:
    for index, item in enumerate(resources):
        yield from required_text(item.name, f"{path}[{index}].name")
        yield from within(item.weight, 1, 100, f"{path}[{index}].weight")


def _shape_faults(shape: Sequence[UtilizationShapePoint], path: str) -> Faults:
    if not shape:
        yield Fault(path, "must have at least one point")
    for index, point in enumerate(shape):
        yield from within(point.utilization, 0, 100, f"{path}[{index}].utilization")
        yield from within(point.score, 0, 10, f"{path}[{index}].score")
        if index and point.utilization <= shape[index - 1].utilization:
            yield Fault(f"{path}[{index}].utilization", "must be greater than that of the point before")


def _spread_args_faults(args: PodTopologySpreadArgs, path: str) -> Faults:
    where = f"{path}.defaultConstraints"
    if args.defaulting_type == "System" and args.default_constraints:
        yield Fault(where, "can only be set with defaultingType List")
    yield from spread_faults(args.default_constraints, where)
    for index, constraint in enumerate(args.default_constraints):
        if constraint.label_selector is not None:
            yield Fault(
                f"{where}[{index}].labelSelector", "must be left out: it comes from each pod's owners"
            )
    timeout = args.node_provisioning_timeout
    if timeout is not None and timeout < 0:
        yield Fault(f"{path}.nodeProvisioningTimeout", "must not be negative")
