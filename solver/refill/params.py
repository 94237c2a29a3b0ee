"""Limits of refill search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class RefillParams:
    """How much room the blueprint keeps free, how nodes are divided, and how a move is made.

    Attributes
    ----------
    least_nodes : int
        Nodes from which refill search is tried, and nodes a side at least, on average.
    least_pods : float
        Pending pods a node from which it is tried: with 3 a node too few residues can be had, and the time
        is better spent elsewhere.
    block_size : int
        Nodes of a block, at most; small ones find their residues faster, large ones have more of them.
    first_slack : int
        Millionths of what nodes have of each resource that the blueprint keeps free at first: 1m of 16 cores.
    slack_shrinkage, slack_growth : float
        What the slack is multiplied by after a plan that leaves nothing out, and after another one.
    blueprint_limit, blueprint_work : float
        Seconds for each step of a blueprint, at most, and CP-SAT's deterministic time for it.
    moves_per_node : int
        Moves in a block for each of its nodes, at most: 67 nodes took up to 170 each, 167 nodes 160.
    attempts : int
        Blueprints that are carried out, at most.
    retries : int
        How often a slack is tried again, with victims who leave in other parts, before it grows: of five
        divisions of one blueprint for 200 nodes one left nothing over.
    attempt_share : float
        Share of the time left for one blueprint.
    most_units : int
        Units that a node has of the resource that decides; where the gcd of all amounts is smaller, requests
        are rounded up.
    swap_chance : float
        Chance that a move swaps a leaving and a staying victim of one group.
    drop_chance : float
        Chance that a newcomer on a node of a move is taken away before the node is filled again.
    most_spare : int
        Pods left over that a move may draw on, at most.
    noise : float
        Relative noise on the size of pods where a move fills with large ones first.
    fill_tries : int
        Fillings of one node, each without a pod for which another resource had no room.
    look_up : int
        Moves between two looks at the clock.
    """

    least_nodes: int = 20
    least_pods: float = 5.0
    block_size: int = 300
    first_slack: int = 60
    slack_shrinkage: float = 0.5
    slack_growth: float = 1.5
    blueprint_limit: float = 10.0
    blueprint_work: float = 0.2
    moves_per_node: int = 300
    attempts: int = 16
    retries: int = 3
    attempt_share: float = 0.7
    most_units: int = 20_000
    swap_chance: float = 0.5
    drop_chance: float = 0.9
    most_spare: int = 30
    noise: float = 0.6
    fill_tries: int = 4
    look_up: int = 64


DEFAULT: Final = RefillParams()
