"""Whether a placement may still be, or is, feasible: so many must stand, pods of a group or groups of a tree.

Source: kube-scheduler plugins/gangscheduling (PlacementFeasible).
"""


def infeasible(needed: int, scheduled: int, remaining: int) -> str:
    """Return why a placement is not, or not yet, feasible; empty where it is.

    Parameters
    ----------
    needed : int
        How many must stand.
    scheduled : int
        How many stand by now.
    remaining : int
        How many are still to be tried.
    """
    if scheduled + remaining < needed:
        return f"minCount ({needed}) cannot be satisfied: {scheduled} scheduled, {remaining} remaining"
    if scheduled < needed:
        return f"minCount ({needed}) is not yet satisfied: {scheduled} scheduled, {remaining} remaining"
    return ""
