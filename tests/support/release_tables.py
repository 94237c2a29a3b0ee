"""The tables of docs/releases.md: what the code says of each release.

Run as a module it brings them up to date:

    PYTHONPATH=tests python -m support.release_tables --write
"""

from kubestow.framework.vocabulary.default_plugins import PLUGINS
from kubestow.framework.vocabulary.releases import PROPOSED_GATES, RELEASES
from kubestow.framework.vocabulary.workload_cycles import WorkloadCycle
from kubestow.models.features import KNOWN_GATES
from support.marked_page import command, replaced
from support.paths import ROOT

PAGE = ROOT / "docs" / "releases.md"
MARK = "releases"

RULES = {
    "untolerated_taint": "TaintToleration says",
    "balanced_allocation": "NodeResourcesBalancedAllocation scores",
    "whole_pools": "a pool of devices is judged by the slices of all nodes",
    "repeated_shares": "one request may have several shares of a device",
    "lost_counters": "counters of a device that is turned down are lost in greedy's search",
    "empty_offers": "an allocatable of 0 keeps devices from serving an extended resource",
    "workload_cycle": "pod groups are scheduled by the rules of",
    "current_cycle": "`workloadCycle: Current` means those of",
    "whole_groups": "pods and groups that preempt evict groups of disruptionMode `all` whole",
    "gang_jobs": "in simulations an indexed Job is a gang without saying so",
}
"""Field of `Release` to what it decides."""


def written(value):
    """Return a rule's value as a cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return f"`{value.format(key='key', value='value')}`"
    if isinstance(value, WorkloadCycle):
        return value.name
    return value.value


def weight_of(release, plugin):
    """Return how a release has a plugin: its weight, that it does not score, or that it is not there."""
    entry = release.plugins.get(plugin)
    return "not there" if entry is None else str(entry.weight) if entry.weight else "–"


def default_of(release, gate):
    """Return the default of a gate in a release."""
    return {True: "on", False: "off", None: "not there"}[release.gates.get(gate)]


def table(head, rows):
    """Return a table over the releases."""
    names = [version.value for version in RELEASES]
    lines = [f"| {head} | {' | '.join(names)} |", "|---" * (1 + len(names)) + "|"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows), ""]


def tables():
    """Return all tables."""
    releases = list(RELEASES.values())
    plugins = [(name, *(weight_of(release, name) for release in releases)) for name in PLUGINS]
    rules = [
        (text, *(written(getattr(release, field)) for release in releases)) for field, text in RULES.items()
    ]
    gates = [
        (f"`{gate}`", *(default_of(release, gate) for release in releases))
        for gate in KNOWN_GATES
        if gate not in PROPOSED_GATES
    ]
    return "\n".join(
        [
            "## Plugins and their weights",
            "",
            *table("plugin", plugins),
            "## Rules",
            "",
            *table("rule", rules),
            "## Feature gates",
            "",
            "Upstream's defaults, for comparison: here every gate is on whose fields an input uses, unless",
            "it is switched off. Gates of proposals that no release has are left out.",
            "",
            *table("gate", gates),
        ]
    )


def current(page):
    """Return the page with its tables up to date."""
    return replaced(page, MARK, tables())


if __name__ == "__main__":
    command(PAGE, __doc__.partition("\n")[0], current)
